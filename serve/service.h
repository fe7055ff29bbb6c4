/* service.h — what the service manager, systemd, gives a program and wants to know. */
#ifndef TWIN_SERVE_SERVICE_H
#define TWIN_SERVE_SERVICE_H

/* Sends "READY=1", "STOPPING=1" or another state, if the manager asked for it; a manager that does not listen is no
 * error. */
void service_notify(const char *state);

/* The socket of this name (FileDescriptorName=) that the manager opened for us; -1: there is none. An empty name takes
 * the first one. */
int service_socket(const char *name);

#endif

#!/usr/bin/env bash
# test_container.sh: the container of the server, built by buildah on a fresh root and started. Exits with 77 where that
# cannot be done.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/root.bash
command -v buildah >/dev/null || skip "no buildah"
[ -n "$(ls build/deb/twinsift_*.deb 2>/dev/null)" ] || packaging/deb.sh
fresh_root
storage=$(mktemp -d)
trap 'leave_root; rm -rf "$storage"' EXIT
box() { buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs "$@"; }

umount -l "$root/proc" || true
base=$(box from scratch 2>"$storage/err") || skip "buildah does not work here: $(cat "$storage/err")"
box add -q "$base" "$root" / >/dev/null
box commit -q "$base" localhost/debian:fresh >/dev/null
box rm "$base" >/dev/null
check "build" box build --isolation chroot --network host --pull-never --build-arg BASE=localhost/debian:fresh -t twinsift \
    -f packaging/container/Containerfile build/deb
made=$(box from --pull-never localhost/twinsift)
# A token as the first lines of the Containerfile make one; then the command of the image, as its user, on a port of loopback.
token=$(sed -n "s/^# *-c '\(.*\)'$/\1/p" packaging/container/Containerfile)
check "a token" box run --isolation chroot "$made" -- sh -c "$token"
read -ra command <<<"$(box inspect --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' "$made")"
served()
{
    box run --isolation chroot "$made" -- "${command[@]}" &
    local server=$! tries good=1
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        python3 -c 'import urllib.request as r; print(r.urlopen("http://127.0.0.1:8377/healthz").read())' && good=0 && break
    done
    kill "$server" || return 1
    wait "$server" || true
    return $good
}
check "its user is not root" sh -c "[ '$(box inspect --format '{{.OCIv1.Config.User}}' "$made")' = twinsift ]"
check "the server answers" served
finish

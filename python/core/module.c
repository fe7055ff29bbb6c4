/* module.c — the module twinsift._core. */
#include "core.h"

PyTypeObject *type_add(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (!type)
        return NULL;
    if (PyModule_AddType(module, type) == 0)
        return type; /* a reference stays with the file that made it, for as long as the process lives */
    Py_DECREF((PyObject *)type);
    return NULL;
}

static PyObject *cpu(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyUnicode_FromString(twin_name_of(TWIN_NAMES_CPU, twin_cpu_level()));
}

static PyMethodDef functions[] = {
    { "scheme", py_scheme, METH_VARARGS, NULL },
    { "pairs", py_pairs, METH_VARARGS, NULL },
    { "dedup", py_dedup, METH_VARARGS, NULL },
    { "similarity", py_similarity, METH_VARARGS, NULL },
    { "edit_distance", py_edit_distance, METH_VARARGS, NULL },
    { "edit_ratio", py_edit_ratio, METH_VARARGS, NULL },
    { "diff", py_diff, METH_VARARGS, NULL },
    { "shard_sign", py_shard_sign, METH_VARARGS, NULL },
    { "shard_digests", py_shard_digests, METH_O, NULL },
    { "plan", py_plan, METH_VARARGS, NULL },
    { "plan_slots", py_plan_slots, METH_VARARGS, NULL },
    { "plan_probability", py_plan_probability, METH_VARARGS, NULL },
    { "arrow_array", py_arrow_array, METH_VARARGS, NULL },
    { "arrow_stream", py_arrow_stream, METH_VARARGS, NULL },
    { "index_create", py_index_create, METH_VARARGS, NULL },
    { "index_compact", py_index_compact, METH_VARARGS, NULL },
    { "bloom_load", py_bloom_load, METH_VARARGS, NULL },
    { "mail_create", py_mail_create, METH_VARARGS, NULL },
    { "cpu", cpu, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "twinsift._core",
    .m_doc = "libtwinsift, for the package twinsift. Nothing here is meant to be called directly.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && errors_add(module) && run_setup(module) && array_setup(module) && texts_setup(module) &&
        signer_setup(module) && shards_setup(module) && index_setup(module) && bloom_setup(module) &&
        mail_setup(module) && PyModule_AddStringConstant(module, "version", twin_version()) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}

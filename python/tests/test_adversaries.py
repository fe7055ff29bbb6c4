"""Inputs that are made to break things: Arrow structs that lie, iterables that fail, arrays that are larger than 2 GiB."""
import ctypes

import pytest

import twinsift


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


pointer = ctypes.POINTER
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", pointer(pointer(Schema))), ("dictionary", pointer(Schema)),
    ("release", ctypes.CFUNCTYPE(None, pointer(Schema))), ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", pointer(ctypes.c_void_p)), ("children", pointer(pointer(Array))),
    ("dictionary", pointer(Array)), ("release", ctypes.CFUNCTYPE(None, pointer(Array))), ("private_data", ctypes.c_void_p),
]
GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, pointer(Stream), pointer(Schema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, pointer(Stream), pointer(Array))
Stream._fields_ = [
    ("get_schema", GetSchema), ("get_next", GetNext),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_void_p, pointer(Stream))),
    ("release", ctypes.CFUNCTYPE(None, pointer(Stream))), ("private_data", ctypes.c_void_p),
]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@Schema._fields_[7][1]
def release_schema(schema):
    schema.contents.release = Schema._fields_[7][1]()


@Array._fields_[8][1]
def release_array(array):
    array.contents.release = Array._fields_[8][1]()


class Lie:
    """An object with __arrow_c_array__, made of whatever it is told."""

    def __init__(self, format, buffers, length, offset=0, nulls=0, dictionary=None):
        self.held = [ctypes.create_string_buffer(one, len(one)) if isinstance(one, bytes) else one for one in buffers]
        self.buffers = (ctypes.c_void_p * max(1, len(buffers)))(
            *(ctypes.cast(one, ctypes.c_void_p) if one is not None else None for one in self.held)
        )
        self.schema = Schema(format=format, name=b"", release=release_schema)
        self.array = Array(
            length=length, offset=offset, null_count=nulls, n_buffers=len(buffers), release=release_array,
            buffers=ctypes.cast(self.buffers, pointer(ctypes.c_void_p)),
        )
        if dictionary:
            self.words = dictionary
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)

    def __arrow_c_array__(self, requested_schema=None):
        return (
            new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
            new_capsule(ctypes.addressof(self.array), b"arrow_array", None),
        )


def int32(*numbers):
    return b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)


def view(length, buffer=0, offset=0):
    return int32(length) + b"abcd" + int32(buffer, offset)


WORDS = Lie(b"u", [None, int32(0, 1, 2), b"ab"], 2)


@pytest.mark.parametrize(
    "lie, kind, words",
    [
        (Lie(b"u", [None, int32(0, 5, 3), b"abcdef"], 2), ValueError, "offsets decrease"),
        (Lie(b"u", [None, int32(-4, 3), b"abcdef"], 1), ValueError, "offsets decrease"),
        (Lie(b"u", [None, int32(0, 3), None], 1), ValueError, "a buffer is missing"),
        (Lie(b"u", [None, None, b"abc"], 1), ValueError, "a buffer is missing"),
        (Lie(b"u", [None], 1), ValueError, "a buffer is missing"),
        (Lie(b"u", [None, int32(0, 3), b"abc"], -1), ValueError, "negative"),
        (Lie(b"u", [None, int32(0, 3), b"abc"], 1, -1), ValueError, "negative"),
        (Lie(b"vu", [None, view(-5)], 1), ValueError, "negative length"),
        (Lie(b"vu", [None, view(20), b"x" * 8], 1), ValueError, "points to no buffer"),
        (Lie(b"vu", [None, view(20, 5), b"x" * 30, (30).to_bytes(8, "little")], 1), ValueError, "points to no buffer"),
        (Lie(b"vu", [None, view(20, 0, 15), b"x" * 30, (30).to_bytes(8, "little")], 1), ValueError, "ends behind"),
        (Lie(b"vu", [None, view(20, 0, -1), b"x" * 30, (30).to_bytes(8, "little")], 1), ValueError, "points to no buffer"),
        (Lie(b"c", [None, b"\x02"], 1, dictionary=WORDS), ValueError, "outside its dictionary"),
        (Lie(b"c", [None, b"\xff"], 1, dictionary=WORDS), ValueError, "outside its dictionary"),
        (Lie(b"g", [None, b"12345678"], 1), TypeError, 'format "g" is not text'),
        (Lie(b"g", [None, b"12345678"], 1, dictionary=WORDS), TypeError, 'format "g" is not text'),
        (Lie(b"w:-3", [None, b"123"], 1), TypeError, "is not text"),
        (Lie(b"+l", [None, int32(0, 1)], 1), TypeError, "is not text"),
        (Lie(b"", [], 1), TypeError, "is not text"),
    ],
)
def test_arrow_that_lies_is_refused(lie, kind, words):
    with pytest.raises(kind, match=words):
        twinsift.pairs(lie)


def test_what_is_true_is_read():
    signer = twinsift.Signer(hashes=4)
    expected = [signer.sign(text).tolist() for text in ("", "b")]
    validity = b"\x02"  # the first of two is null, whatever its offsets say
    lie = Lie(b"u", [validity, int32(0, 1, 2), b"ab"], 2, nulls=1)
    assert [row.tolist() for row in signer.sign_many(lie)] == expected
    sliced = Lie(b"u", [b"\x10", int32(9, 9, 9, 0, 1, 2), b"ab"], 2, 3, -1)
    assert [row.tolist() for row in signer.sign_many(sliced)] == expected


def test_a_capsule_is_read_once():
    lie = Lie(b"u", [None, int32(0, 1), b"a"], 1)
    twinsift.pairs(lie)
    with pytest.raises(ValueError, match="was read before"):
        twinsift.pairs(lie)


def test_a_stream_is_read_once_and_may_fail_in_the_middle():
    arrow = pytest.importorskip("pyarrow")
    reader = arrow.table({"text": ["a", "b"]}).to_reader()
    twinsift.pairs(reader)
    try:
        assert len(twinsift.Signer().sign_many(reader)) == 0  # pyarrow gives what is left of it
    except ValueError as error:
        assert "before" in str(error) or "released" in str(error)

    def batches():
        yield arrow.record_batch({"text": ["a"]})
        raise RuntimeError("the disk is on fire")

    schema = arrow.schema([("text", arrow.string())])
    with pytest.raises(Exception, match="the disk is on fire"):
        twinsift.pairs(arrow.RecordBatchReader.from_batches(schema, batches()))


@pytest.mark.parametrize("answer", [None, 5, (1, 2), (1,), "text"])
def test_methods_that_return_no_capsules_are_refused(answer):
    class Odd:
        def __arrow_c_array__(self, requested_schema=None):
            return answer

    class OddStream:
        def __arrow_c_stream__(self, requested_schema=None):
            return answer

    for odd in (Odd(), OddStream()):
        with pytest.raises((TypeError, ValueError, SystemError)):
            twinsift.pairs(odd)


def test_a_method_that_raises_is_heard():
    class Odd:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        twinsift.pairs(Odd())


def test_an_iterable_that_raises_is_heard():
    def texts():
        yield "a"
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        twinsift.pairs(texts())


def test_a_list_may_change_while_it_is_read():
    import threading

    texts = ["a text of some length, number %d" % number for number in range(20_000)]
    done = threading.Event()

    def change():
        while not done.is_set():
            texts[0] = "x" * 100
            texts.append(texts.pop())

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(5):
            twinsift.Signer().sign_many(texts)
    finally:
        done.set()
        thread.join()


def test_strings_that_are_not_utf8_are_repaired_and_counted():
    result = twinsift.pairs([b"a\xff\xfeb", "a\ufffd\ufffdb", b"\xed\xa0\x80 surrogate"], threshold=1)
    assert (0, 1, 1.0) in list(result) and result.report["ill_formed"] == 2


def test_offsets_beyond_two_gigabytes_are_read():
    """A large_string array whose last text is behind 2 GiB of untouched memory."""
    arrow, numpy = pytest.importorskip("pyarrow"), pytest.importorskip("numpy")
    size = 2**31 + 100
    try:
        values = numpy.zeros(size, numpy.uint8)  # no page of it is used but the last
    except MemoryError:
        pytest.skip("there is not enough address space")
    values[-5:] = list(b"hello")
    offsets = arrow.py_buffer(numpy.array([size - 5, size], numpy.int64))
    array = arrow.Array.from_buffers(arrow.large_string(), 1, [None, offsets, arrow.py_buffer(values)])
    signer = twinsift.Signer()
    assert signer.sign_many(array)[0].tolist() == signer.sign("hello").tolist()


def test_one_text_may_be_large():
    text = "the quick brown fox jumps over the lazy dog " * 300_000
    pairs = list(twinsift.pairs([text, "a", text.upper()]))
    assert pairs == [(0, 2, 1.0)]

// The method of twinsift in a browser, or in Node: signatures, band keys, plans, Bloom filters, edit distances.
//
//     import { load } from './twinsift.js';
//     const twinsift = await load();
//     const { signature, bandKeys } = twinsift.sign('a text', { slots: 128 });
//
// All figures are those of the library and of the program, bit by bit: the module is compiled from the same sources.

// What the module was compiled to find around it: a clock, no environment, no files.
function system(memory) {
  return {
    fd_close: () => 0,
    environ_get: () => 0,
    environ_sizes_get: (count, bytes) => {
      new DataView(memory().buffer).setUint32(count, 0, true);
      new DataView(memory().buffer).setUint32(bytes, 0, true);
      return 0;
    },
    clock_time_get: (which, precision, time) => {
      new DataView(memory().buffer).setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit: (status) => {
      throw new Error(`twinsift ended with status ${status}`);
    },
  };
}

async function read(address) {
  if (address.protocol === 'file:') return (await import('node:fs/promises')).readFile(address);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.arrayBuffer();
}

// `source` is the module's address, or its bytes. Without one: twinsift.wasm beside this file.
export async function load(source = new URL('twinsift.wasm', import.meta.url)) {
  const bytes = source instanceof URL ? await read(source) : source;
  let exports = null;
  ({ exports } = (await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: system(() => exports.memory) })).instance);
  exports._initialize();
  return new Twinsift(exports);
}

class Twinsift {
  #module;

  constructor(module) {
    this.#module = module;
  }

  // A request as the server takes it (docs/openapi.yaml): its status, and the answer as text.
  request(path, body) {
    const module = this.#module, encoder = new TextEncoder();
    const head = encoder.encode(path), rest = encoder.encode(body);
    const at = module.room(head.length + rest.length);
    if (!at) throw new RangeError('The text is too long.');
    new Uint8Array(module.memory.buffer, at, head.length).set(head);
    new Uint8Array(module.memory.buffer, at + head.length, rest.length).set(rest);
    const status = module.answer(head.length, rest.length);
    if (!status) throw new RangeError('There is not enough memory.');
    const text = new Uint8Array(module.memory.buffer, module.bytes(), module.length());
    return { status, text: new TextDecoder().decode(text) };
  }

  #ask(path, wish) {
    const { text } = this.request(path, JSON.stringify(wish));
    const answer = JSON.parse(text);
    if (answer.error) throw new RangeError(answer.error.message);
    return answer;
  }

  // The signature of a text and the keys of its bands, as `twinsift sign` and `pairs` make them.
  // Options: shingle ('auto:9'), slots (128), seed (1), sketch ('fast'), threshold (0.8), bands, rows, raw.
  sign(text, options = {}) {
    const { bands, rows, signature, band_keys: keys } = this.#ask('sign', { ...options, text });
    return { bands, rows, signature: Uint32Array.from(signature), bandKeys: BigUint64Array.from(keys, (key) => BigInt('0x' + key)) };
  }

  // As POST /v1/compare, /v1/plan, /v1/bloom and /v1/edit of the server.
  compare(a, b, options = {}) {
    return this.#ask('/v1/compare', { ...options, a, b });
  }

  plan(wish) {
    return this.#ask('/v1/plan', wish);
  }

  bloom(wish) {
    return this.#ask('/v1/bloom', wish);
  }

  edit(a, b) {
    return this.#ask('/v1/edit', { a, b });
  }

  get version() {
    const at = this.#module.version(), memory = new Uint8Array(this.#module.memory.buffer);
    return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  }
}

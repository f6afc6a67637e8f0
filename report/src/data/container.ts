// SPDX-License-Identifier: Apache-2.0
// Reads the blocks that sm100sim writes into the page (traces/html/columns.h): base64 of a deflated container with a JSON
// header and columns of integers.

export type Column = Float64Array | Int32Array;

export interface Container<Header> {
  header: Header;
  column(name: string): Int32Array;
  /** For values that need more than 32 bits. */
  wideColumn(name: string): Float64Array;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Zigzag varints of the differences between neighbours. */
function decode<Values extends Column>(bytes: Uint8Array, at: number, values: Values): Values {
  let previous = 0;
  for (let i = 0; i < values.length; ++i) {
    let byte = bytes[at++];
    let rest = byte & 127;
    for (let unit = 128; byte & 128; unit *= 128) {
      byte = bytes[at++];
      rest += (byte & 127) * unit;
    }
    previous += rest % 2 === 0 ? rest / 2 : -(rest + 1) / 2;
    values[i] = previous;
  }
  return values;
}

/** null if the page has no such block. */
export async function readContainer<Header>(id: string): Promise<Container<Header> | null> {
  const element = document.getElementById(id);
  if (!element) return null;
  const base64 = (element.textContent ?? '').trim();
  element.remove(); // megabytes that nobody reads again
  return unpack(base64);
}

export async function unpack<Header>(base64: string): Promise<Container<Header>> {
  const bytes = await inflated(bytesOf(base64));
  const headerLength = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerLength)));
  const places = new Map<string, {count: number; at: number}>();
  let at = 4 + headerLength;
  for (const [name, count, length] of header.columns as [string, number, number][]) {
    places.set(name, {count, at});
    at += length;
  }
  const place = (name: string) => places.get(name) ?? {count: 0, at: 0};
  return {
    header,
    column: (name) => decode(bytes, place(name).at, new Int32Array(place(name).count)),
    wideColumn: (name) => decode(bytes, place(name).at, new Float64Array(place(name).count)),
  };
}

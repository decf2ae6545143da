/**
 * The payload columns of the wire format: first the bytes 0 of all frames, then the bytes 1, and so
 * on; a frame that is too short for a column is left out of it. Frames of 2, 1 and 2 bytes aa bb,
 * cc, dd ee become aa cc dd | bb ee. Equal positions of one message hold similar values, which is
 * what makes the columns compress better than the rows.
 */
export function transpose(payload: Uint8Array, lengths: Uint8Array): Uint8Array {
  const columns = new Uint8Array(payload.length);
  let target = 0;
  for (let column = 0; target < payload.length; column++) {
    let start = 0;
    for (const length of lengths) {
      if (column < length) columns[target++] = payload[start + column] ?? 0;
      start += length;
    }
  }
  return columns;
}

/** The inverse: rows again. */
export function untranspose(columns: Uint8Array, lengths: Uint8Array): Uint8Array {
  const payload = new Uint8Array(columns.length);
  let source = 0;
  for (let column = 0; source < columns.length; column++) {
    let start = 0;
    for (const length of lengths) {
      if (column < length) payload[start + column] = columns[source++] ?? 0;
      start += length;
    }
  }
  return payload;
}

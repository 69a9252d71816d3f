// Where the frames of a zstd file end. Only their outlines are read, not what is in them.
const MAGIC = 0xfd2fb528
const RUN = 1

/** All of the file, when its last frame is torn or none of it is a frame. */
export function endOfFrames(bytes) {
  let at = 0
  while (at + 4 <= bytes.length && bytes.readUInt32LE(at) === MAGIC) {
    const end = endOfFrame(bytes, at + 4)
    if (end === undefined || end > bytes.length) return bytes.length
    at = end
  }
  return at === 0 ? bytes.length : at
}

function endOfFrame(bytes, from) {
  const descriptor = bytes[from]
  const single = descriptor & 0x20
  const sizes = [single ? 1 : 0, 2, 4, 8]
  let at = from + 1 + (single ? 0 : 1) + [0, 1, 2, 4][descriptor & 3] + sizes[descriptor >> 6]
  while (at + 3 <= bytes.length) {
    const head = bytes.readUIntLE(at, 3)
    at += 3 + ((head >> 1 & 3) === RUN ? 1 : head >> 3)
    if (head & 1) return at + (descriptor & 4 ? 4 : 0)
  }
  return undefined
}

// Zstandard frames of a log: where they stand, how they are read, how they are made.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const MAGIC = 0xFD2FB528

/** Complete frames from the start, and the offset at which the walk had to stop (the file length when all is whole). */
export function walkFrames(bytes) {
  const frames = []
  let start = 0
  for (;;) {
    const end = frameEnd(bytes, start)
    if (end === undefined) return { frames, stop: start }
    frames.push({ start, end })
    start = end
  }
}

/** End of the frame that starts here, or undefined when there is no complete frame. */
function frameEnd(bytes, start) {
  if (start + 6 > bytes.length || bytes.readUInt32LE(start) !== MAGIC) return undefined
  const flags = bytes[start + 4]
  const oneSegment = flags >> 5 & 1
  let at = start + 5 + (oneSegment ? 0 : 1) + [0, 1, 2, 4][flags & 3] + [oneSegment, 2, 4, 8][flags >> 6]
  for (;;) {
    if (at + 3 > bytes.length) return undefined
    const block = bytes.readUIntLE(at, 3)
    at += 3 + ((block >> 1 & 3) === 1 ? 1 : block >>> 3)
    if (block & 1) break
  }
  if (flags >> 2 & 1) at += 4
  return at <= bytes.length ? at : undefined
}

export const unpack = bytes => zstdDecompressSync(bytes)

/** One frame the way the client writes it: content checksum on, no content size. */
export function pack(text, { checksum = true } = {}) {
  return zstdCompressSync(text, { params: {
    [constants.ZSTD_c_checksumFlag]: checksum ? 1 : 0,
    [constants.ZSTD_c_contentSizeFlag]: 0,
  } })
}

/** Whatever still decodes from a frame that was cut short; its checksum was never read. */
export function unpackTorn(bytes) {
  try {
    return zstdDecompressSync(bytes, { finishFlush: constants.ZSTD_e_continue })
  } catch {
    return Buffer.alloc(0)
  }
}

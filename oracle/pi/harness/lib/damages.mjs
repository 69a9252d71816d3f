// Kinds of damage to a log, each done to some of the runs.
import { linesOf } from './logs.mjs'

const zeros = Buffer.alloc(40)
const OF = ['one-by-one', 'at-once', 'compaction', 'two-lanes']

/** `lossless`: every write is still there, so that the whole log must come back. */
const kinds = {
  'no line feed at the end': { lossless: true, spoil: bytes => bytes.subarray(0, -1) },
  'zeros at the end': { lossless: true, spoil: bytes => Buffer.concat([bytes, zeros]) },
  'half a line behind the end': { lossless: true, spoil: (bytes, lines) => Buffer.concat([bytes, part(bytes, lines.at(-1), 0.5)]) },
  'a blank line': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), '\n') },
  'a line of zeros': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), Buffer.concat([zeros, Buffer.from('\n')])) },
  'zeros in front of a line': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), zeros) },
  'a line that is no write': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), 'null\n') },
  'half a line in front of it': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), Buffer.concat([part(bytes, middle(lines), 0.5), Buffer.from('\n')])) },
  'a torn line glued to it': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), part(bytes, middle(lines), 0.5)) },
  'two lines glued': { lossless: true, spoil: (bytes, lines) => Buffer.concat([bytes.subarray(0, middle(lines).end - 1), bytes.subarray(middle(lines).end)]) },
  'a line twice': { lossless: true, spoil: (bytes, lines) => insert(bytes, middle(lines), part(bytes, middle(lines), 1)) },
  'a byte order mark': { lossless: true, spoil: bytes => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]) },
  'a line torn': { spoil: (bytes, lines) => Buffer.concat([bytes.subarray(0, middle(lines).end - 20), bytes.subarray(middle(lines).end - 1)]) },
  'a line gone': { spoil: (bytes, lines) => Buffer.concat([bytes.subarray(0, middle(lines).at), bytes.subarray(middle(lines).end)]) },
  'the header gone': { spoil: (bytes, lines) => bytes.subarray(lines[0].end) },
  'the header torn': { spoil: (bytes, lines) => bytes.subarray(20) },
}

export function damages(run, bytes, began) {
  if (!OF.includes(run)) return []
  const lines = linesOf(bytes)
  return Object.entries(kinds).map(([kind, { lossless = false, spoil }]) => ({
    name: `${run}/${kind}`, bytes: spoil(bytes, lines), began: began.map(({ id }) => id), healthy: lossless ? bytes : undefined,
  }))
}

const middle = lines => lines[Math.floor(lines.length / 2)]
const part = (bytes, { at, end }, share) => bytes.subarray(at, at + Math.floor((end - at) * share))
const insert = (bytes, { at }, more) => Buffer.concat([bytes.subarray(0, at), Buffer.from(more), bytes.subarray(at)])

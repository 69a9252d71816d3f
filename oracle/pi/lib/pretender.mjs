// Plays sessfix for the self-test: it mends one session whose last call is open, and does one thing wrong, by name.
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { page } from './page.mjs'
import { healthy } from './healthy.mjs'

/** Cut behind a call, which the damaged session ends with. */
export const damaged = () => page(healthy.linear).cutBehind('c2').bytes()

const sheet = () => page(healthy.linear).cutBehind('c2')
const closer = (s, id, text, call = 'k2', under = 'c2') => s.copy('r1', {
  id, parentId: under === 'c2' ? s.row('c2').id : under,
  message: { ...s.row('r1').message, toolCallId: call, isError: true, content: [{ type: 'text', text }] },
})
const UNKNOWN = 'TOOL_OUTCOME_UNKNOWN: it may or may not have run.'
const good = s => s.end(closer(s, 'c0000001', UNKNOWN))

/** What is written in place of the damaged session. */
const WRITTEN = {
  'nothing wrong': s => good(s),
  'a record left out': s => good(s).drop('a2').hang('q3', 'q2'),
  'other words': s => good(s.say('a2', { content: [{ type: 'text', text: 'Nobody knows.' }] })),
  'a word of its own': s => s.end(closer(s, 'c0000001', UNKNOWN), s.copy('a2', { id: 'c0000002', parentId: 'c0000001', message: { ...s.row('a2').message, content: [{ type: 'text', text: 'All is well.' }] } })),
  'a closer twice': s => s.end(closer(s, 'c0000001', UNKNOWN), closer(s, 'c0000002', UNKNOWN, 'k2', 'c0000001')),
  'a closer that denies': s => s.end(closer(s, 'c0000001', 'TOOL_NOT_STARTED: it did not run.')),
  'a closer that tells a tale': s => s.end(closer(s, 'c0000001', 'nine barrels')),
  'a closer for nobody': s => s.end(closer(s, 'c0000001', UNKNOWN, 'nobody')),
  'a closer without a place': s => s.end(closer(s, 'c0000001', UNKNOWN, 'k2', 'ffffffff')),
  'a circle': s => good(s).hang('q1', 'a2'),
  'no closer': s => s.end({ ...s.row('model'), id: 'c0000001', parentId: s.row('c2').id }),
  'torn': s => good(s).bytes().subarray(0, -9),
}

export function pretend(fault) {
  const [command, file] = [process.argv[2], process.argv.at(-1)]
  const [text, { atime, mtime }] = [readFileSync(file), statSync(file)]
  const put = (bytes) => {
    writeFileSync(file, bytes)
    if (fault !== 'the time') utimesSync(file, atime, mtime)
  }
  const original = `${file}.bak`
  const kept = file.replace(/[^/]*$/, '../kept')
  const isDamaged = text.equals(damaged())
  if (command === 'verify') {
    if (fault === 'a look leaves a trace') put(Buffer.concat([text, Buffer.from('\n')]))
    return isDamaged && fault !== 'nothing done' ? 1 : 0
  }
  if (command === 'undo') return void (fault !== 'no way back' && existsSync(kept) && put(readFileSync(kept))) ?? 0
  if (fault === 'trouble') return 2
  if (fault === 'refused' || fault === 'refused and written') {
    if (fault === 'refused and written') put(Buffer.concat([text, Buffer.from('\n')]))
    return 3
  }
  if (fault === 'nothing done') return 0
  if (isDamaged) {
    writeFileSync(kept, text)
    if (fault === 'a copy left behind') writeFileSync(original, text)
    const made = (WRITTEN[fault] ?? WRITTEN['nothing wrong'])(sheet())
    put(Buffer.isBuffer(made) ? made : made.bytes())
  } else if (fault === 'never done') put(Buffer.concat([text, Buffer.from('\n')]))
  return 0
}

// Plays sessfix for the self-test: it mends what tiny.mjs has damaged, and does one thing wrong, by name.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CLOSER = 'TOOL_OUTCOME_UNKNOWN: the command may or may not have run.'
const home = process.argv.at(-1)
const folder = join(home, 'sessions', '2026', '05', '01')
const [parent] = readdirSync(folder).sort().map(name => join(folder, name))

const record = (ordinal, type, payload) => JSON.stringify({ timestamp: '2026-05-01T08:00:00.000Z', ...ordinal && { ordinal }, type, payload })
const output = (ordinal, text) => record(ordinal, 'response_item', { type: 'function_call_output', id: 'fco_crew', call_id: 'crew', output: text })
const aborted = ordinal => record(ordinal, 'event_msg', { type: 'turn_aborted', turn_id: 't2', reason: 'interrupted' })

/** The lines of a good repair, for a fault to work on. */
const good = lines => [...lines.slice(0, -1), output(10, CLOSER), aborted(11)]
const torn = lines => lines.at(-1)

const WORD = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'All is well.' }] }

/** What is written, line by line, the last one without an end. */
const WRITTEN = {
  'nothing wrong': lines => [...good(lines), ''],
  'nothing done': lines => lines,
  'a record left out': lines => [...good(lines).filter((line, n) => n !== 4), ''],
  'a line in the shared part': lines => [lines[0], '', ...good(lines).slice(1), ''],
  'other words': lines => [...good(lines).map(line => line.replace('The Vess boat.', 'The mail boat!')), ''],
  'a closer twice': lines => [...lines.slice(0, -1), output(10, CLOSER), output(11, CLOSER), aborted(12), ''],
  'a closer that denies': lines => [...lines.slice(0, -1), output(10, 'TOOL_NOT_STARTED: it did not run.'), aborted(11), ''],
  'a closer for nobody': lines => [...lines.slice(0, -1), output(10, CLOSER).replace('"call_id":"crew"', '"call_id":"nobody"'), aborted(11), ''],
  'a closer that tells a tale': lines => [...lines.slice(0, -1), output(10, 'Tove, Anselm, Ines'), aborted(11), ''],
  'no closer': lines => [...lines.slice(0, -1), aborted(10), ''],
  'no numbers': lines => [...lines.slice(0, -1), output(undefined, CLOSER), aborted(undefined), ''],
  'no end of the last line': lines => good(lines),
  'a torn line kept': lines => [...lines.slice(0, -1), torn(lines), output(10, CLOSER), aborted(11), ''],
  'a word of its own': lines => [...good(lines), record(12, 'response_item', WORD), ''],
}

const isDamaged = text => !text.includes('"turn_aborted"')

export function pretend(fault) {
  const command = process.argv[2]
  const text = readFileSync(parent, 'utf8')
  const damaged = isDamaged(text)
  if (command === 'verify') {
    if (fault === 'a look leaves a trace') writeFileSync(join(home, 'looked.txt'), String(text.length))
    return damaged && fault !== 'a repair of what is clean' ? 1 : 0
  }
  if (fault === 'refused' || fault === 'refused and written') {
    if (fault !== 'refused') writeFileSync(parent, `${text}\n`)
    return 3
  }
  if (fault === 'trouble') return 2
  const write = WRITTEN[fault] ?? WRITTEN['nothing wrong']
  if (damaged) writeFileSync(parent, write(text.split('\n')).join('\n'))
  if (fault === 'never done') writeFileSync(parent, `${readFileSync(parent, 'utf8')}\n`)
  if (fault === 'a copy left behind') writeFileSync(parent.replace('T08-00', 'T07-00'), text)
  return 0
}

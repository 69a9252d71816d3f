// Plays sessfix for the self-test: it mends what tiny.mjs has left open, and does one thing wrong, by name.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text, tiny, update } from './tiny.mjs'

const CLOSER = 'TOOL_OUTCOME_UNKNOWN: the command may or may not have run.'
const result = (words, id = 'crew') => JSON.stringify({ type: 'tool_result', tool_call_id: id, content: words })
const ended = (words, id = 'crew') => update(6, { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'failed', content: [{ type: 'content', ...text(words) }] })
const over = update(7, { sessionUpdate: 'turn_completed', prompt_id: 'p0', stop_reason: 'interrupted' }, '_x.ai/session/update')
const TURN_ENDED = '{"ts":"2026-05-01T08:00:00Z","type":"turn_ended","outcome":"interrupted"}'
const DENIAL = 'Tool execution was cancelled by the user (tool `run_terminal_command` was not executed).'

const history = tiny['chat_history.jsonl']
const log = tiny['updates.jsonl']
const good = { history: [...history, result(CLOSER)], log: [...log, ended(CLOSER), over], events: [...tiny['events.jsonl'], TURN_ENDED] }
const without = (lines, n) => lines.filter((line, m) => m !== n)

/** What differs from a good repair. */
const WRITTEN = {
  'nothing done': { history, log, events: tiny['events.jsonl'] },
  'no closer': { history },
  'a closer twice': { history: [...good.history, result(CLOSER)] },
  'a closer for nobody': { history: [...good.history, result(CLOSER, 'nobody')] },
  'a closer that tells a tale': { history: [...history.slice(0, 3), result('nine barrels', 'barrels'), result(CLOSER)] },
  'the words of the client': { history: [...history, result(DENIAL)] },
  'a result left out': { history: [...without(history, 3), result(CLOSER, 'barrels'), result(CLOSER)] },
  'an answer left out': { history: without(good.history, 2) },
  'other words': { history: good.history.map(line => line.replace('I look.', 'I sleep')) },
  'a line of the log left out': { log: without(good.log, 1) },
  'no end on the log': { log: [...log, over] },
  'the turn left open': { events: tiny['events.jsonl'] },
  'torn': { history: [...good.history, '{"type":"assistant","con'] },
}

export function pretend(fault) {
  const [command, , session] = process.argv.slice(2)
  const path = name => join(session, name)
  const put = (name, lines) => writeFileSync(path(name), `${lines.join('\n')}\n`)
  const damaged = !readFileSync(path('events.jsonl'), 'utf8').includes('turn_ended')
  if (command === 'verify') {
    if (fault === 'a look leaves a trace') put('looked.json', ['{}'])
    return damaged ? 1 : 0
  }
  if (command === 'undo') {
    if (fault !== 'no way back') for (const [name, lines] of Object.entries(tiny)) put(name, lines)
    return 0
  }
  if (fault === 'refused') return 3
  if (fault === 'refused and written') {
    put('chat_history.jsonl', good.history)
    return 3
  }
  if (fault === 'trouble') return 2
  if (damaged) {
    const written = { ...good, ...WRITTEN[fault] }
    put('chat_history.jsonl', written.history)
    put('updates.jsonl', written.log)
    put('events.jsonl', written.events)
  }
  if (fault === 'never done') put('events.jsonl', [readFileSync(path('events.jsonl'), 'utf8').trimEnd(), TURN_ENDED])
  if (fault === 'a copy left behind') {
    mkdirSync(join(session, '..', 'copy'), { recursive: true })
    writeFileSync(join(session, '..', 'copy', 'summary.json'), tiny['summary.json'][0])
  }
  return 0
}

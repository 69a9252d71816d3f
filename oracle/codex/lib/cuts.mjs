// Where a rollout may be cut, by rules of its own: it shares nothing with the program under test.
import { historyOf, isAside } from './history.mjs'
import { callOf, outputOf } from './items.mjs'

const STARTS = /^(task|turn)_started$/
const ENDS = /^(task_complete|turn_complete|turn_aborted)$/

/** The numbers of the lines behind which nothing is open: [] where a rollout has no such place. */
export function legalLines(library, rollout) {
  const { inherited } = historyOf(library, rollout)
  const paginated = rollout.header?.history_mode === 'paginated'
  const records = [...inherited, ...rollout.records]
  const turned = records.some(({ value }) => STARTS.test(value.payload?.type))
  const legal = []
  let open = false
  let turns = 0
  let said = false
  let calls = []
  for (const [n, { value: { type, payload }, line }] of records.entries()) {
    if (type === 'event_msg' && STARTS.test(payload.type)) [open, turns] = [true, turns + 1]
    if (type === 'event_msg' && ENDS.test(payload.type)) open = false
    if (type === 'event_msg' && payload.type === 'thread_rolled_back') [open, turns, calls] = [false, Math.max(0, turns - payload.num_turns), []]
    if (type === 'compacted') calls = []
    if (type === 'response_item') {
      if (isPerson(payload)) {
        said = true
        if (paginated) calls = []
      }
      if (callOf(payload)) calls.push(callOf(payload).id)
      calls = calls.filter(id => id !== outputOf(payload)?.id)
    }
    if (n < inherited.length || calls.length > 0) continue
    const next = records[n + 1]?.value
    if (turned ? !open && turns > 0 : said && (next === undefined || (next.type === 'response_item' && isPerson(next.payload)))) legal.push(line.number)
  }
  return legal
}

const isPerson = item => item.type === 'message' && item.role === 'user' && !isAside(item)

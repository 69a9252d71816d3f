// Repairs a session whose client was killed, where it lies, and holds what the model is told against what really happened.
import { sessfix } from './binary.mjs'
import { commandsIn } from './commands.mjs'
import { itemsSent } from './compare.mjs'
import { age } from './home.mjs'
import { folderOf, idOf } from './lead.mjs'
import { CLOSER, resultsIn } from './session.mjs'
import { judge } from './trial.mjs'

/** Faults. */
export async function faultsOfRepair(binary, place) {
  const session = folderOf(place)
  const { faults, sent, before } = await judge(binary, place, { cwd: place.project, id: place.session, session, safe: true })
  return sent === undefined ? faults : [...faults, ...lies(itemsSent(sent), before, commandsIn(place.project).allThatBegan())]
}

/** What is said of a call that is not so. Names from z on are not the session's own. */
export function lies(items, before, began) {
  const real = resultsIn(before)
  const ran = new Set(began.map(idOf))
  const told = items.filter(({ result, text }) => result !== undefined && !real.get(result)?.includes(text)).flatMap(({ result, text }) => {
    if (ran.has(result) && /^TOOL_NOT_STARTED/.test(text)) return [`${result} began, and is said not to have started`]
    return CLOSER.test(text) ? [] : [`of ${result} nothing is on record, and the model reads: ${text.slice(0, 80)}`]
  })
  const calls = new Set(items.map(({ call }) => call))
  const hidden = began.filter(name => name < 'z' && !calls.has(idOf(name)))
  return [...told, ...hidden.map(name => `${idOf(name)} ran, and the model reads of no such call`)]
}

/** Faults of a repair between two runs. */
export async function repairIn(binary, place) {
  await age(place.grok)
  const { status, err } = await sessfix(binary, 'repair', place, folderOf(place))
  return status === 0 ? [] : [`repair between two runs ends with ${status}: ${err}`]
}

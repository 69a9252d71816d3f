// Proves the repair of what a killed client left: in its own home, with the real client, and by what the commands left behind, which
// know better than the file what ran.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { goOn } from './ask.mjs'
import { sessionOf } from './lead.mjs'
import { wholeRecords } from './records.mjs'
import { repair } from './repair.mjs'
import { knowledgeOf, runTrial, sentFaults } from './trial.mjs'
import { turnsOfRecord, turnsSent } from './turns.mjs'

/** Faults of a repair between two runs. */
export async function faultsBetween(binary, place) {
  const { outcome, faults } = await repair(binary, place, await sessionOf(place), { undo: false })
  return outcome === 'refused' ? ['repair between two runs refuses', ...faults] : faults
}

/** Faults. `ran` are the calls that began. Where the client has left no file there is nothing to repair. */
export async function faultsOfRepair(binary, place, ran, folder) {
  const file = await sessionOf(place)
  if (file === undefined) return []
  const bytes = await readFile(file)
  const trial = await runTrial(binary, { bytes, goesOn: false }, join(folder, 'trial'))
  if (trial.outcome === 'failed') return trial.faults
  const { outcome, faults } = await repair(binary, place, file, { undo: false })
  if (outcome === 'refused') return ['repair refuses', ...faults]
  if (wholeRecords(bytes).every(({ value }) => turnsOfRecord(value).length === 0)) faults.push('nothing was said, so nothing is proved')
  const answer = await goOn(place, file)
  const denied = turnsSent(answer.sent).filter(({ role, id, texts }) => role === 'result' && ran.includes(id) && texts.join().includes('TOOL_NOT_STARTED'))
  return [
    ...faults, ...sentFaults(answer, await knowledgeOf('current', { bytes }, folder)),
    ...denied.map(({ id }) => `call ${id} ran, and is said not to have started`),
  ]
}

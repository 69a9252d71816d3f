// Repairs a home whose client was killed, where it was killed: between two runs, and at the end, as every other home is judged.
import { sessfix } from './binary.mjs'
import { age } from './home.mjs'
import { runTrial } from './trial.mjs'

/** Faults. */
export async function faultsOfRepair(binary, places, folder) {
  const { outcome, faults } = await runTrial(binary, { places }, folder)
  return outcome === 'refused' ? ['repair refuses'] : faults
}

/** Faults. Without a binary there are none, and nothing is done. */
export async function repairIn(binary, places) {
  if (binary === undefined) return []
  await age(places.codex)
  const { status, err } = await sessfix(binary, ['repair'], places, places.home)
  return status === 0 ? [] : [`repair between two runs ends with ${status}: ${err}`]
}

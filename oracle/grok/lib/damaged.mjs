// One source for each kind of damage, with what was there before.
import { makeBases } from './bases.mjs'
import { Draft } from './draft.mjs'
import { kinds } from './kinds.mjs'

/** Killed before, so that the base itself is no healthy session. */
const STOPPED = new Set(['stopped', 'reopened'])

export async function ownSources(scratch, jobs, isWanted) {
  const wanted = Object.entries(kinds).flatMap(([base, all]) => Object.entries(all).map(([kind, damage]) => ({ base, name: `${base}/${kind}`, damage }))).filter(({ name }) => isWanted(name))
  const bases = await makeBases(new Set(wanted.map(({ base }) => base)), scratch, jobs)
  return wanted.map(({ base, name, damage }) => {
    const healthy = bases.get(base)
    const draft = new Draft(healthy)
    damage(draft)
    return { name, files: draft.files(), healthy: STOPPED.has(base) ? undefined : healthy, clean: damage.clean, safe: !damage.either }
  })
}

// The healthy sessions, and what every kind of damage makes of them.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bytes } from './kinds/bytes.mjs'
import { calls } from './kinds/calls.mjs'
import { databases } from './kinds/databases.mjs'
import { CLEAN, Draft, REPAIRABLE } from './kinds/draft.mjs'
import { headers } from './kinds/headers.mjs'
import { lineage } from './kinds/lineage.mjs'
import { ordinals } from './kinds/ordinals.mjs'
import { packed } from './kinds/packed.mjs'
import { turns } from './kinds/turns.mjs'
import { readName, unpack } from './rollouts.mjs'
import { namedSources } from './sources.mjs'

export const kinds = [...bytes, ...headers, ...ordinals, ...calls, ...turns, ...lineage, ...packed, ...databases]

/** Sessions that were stopped are in order too, but somebody has to close what is open. */
export async function healthySources(folder) {
  const names = (await readdir(folder, { withFileTypes: true })).filter(entry => entry.isDirectory()).map(entry => entry.name)
  const sources = await Promise.all(names.sort().map(name => namedSources([join(folder, name)], () => {})))
  return sources.flatMap(([{ files }], n) => {
    const stopped = names[n].startsWith('stop-')
    return [{ name: names[n], files, verdict: stopped ? REPAIRABLE : CLEAN, asIs: stopped ? /was cut off/ : null }]
  })
}

/** One source for each kind of damage, with what was there before. */
export async function damagedSources(folder) {
  const healthy = new Map((await healthySources(folder)).map(({ name, files }) => [name, files]))
  return kinds.map((kind) => {
    const files = healthy.get(kind.of)
    const { name, archived } = files[kind.file]
    if (!kind.lived) return { ...kind, healthy: kind.adds ? undefined : files, files: spoiled(files, kind) }
    const path = join(archived ? 'archived_sessions' : join('sessions', ...readName(name).date), name)
    return { ...kind, files, damage: places => kind.damage(places, path) }
  })
}

function spoiled(files, { file, spoil }) {
  return files.flatMap((whole, n) => {
    if (n !== file) return [whole]
    const draft = new Draft(readName(whole.name).packed ? unpack(whole.bytes) : whole.bytes)
    const made = spoil(draft, Buffer.from(whole.bytes), whole.name) ?? draft.bytes()
    if (made.gone) return []
    return Array.isArray(made) ? made.map(other => ({ ...whole, ...other })) : [{ ...whole, bytes: made }]
  })
}

// Sessions in which nothing is damaged, and those that only a kill has cut short: { name, files, open }.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { tell } from './binary.mjs'
import { placesIn } from './client.mjs'
import { settle } from './home.mjs'
import { SUMMARY, recordsIn } from './session.mjs'
import { namedSources, sharedSources } from './sources.mjs'

/** A session cut short has open calls and turns, and no other damage. */
const OPEN = new Set(['OPEN_TURN', 'DANGLING_CALL', 'DERIVED_STALE'])

export async function healthySources(binary, shared, paths, scratch) {
  const all = [...await namedSources(paths), ...shared === undefined ? [] : await sharedSources(shared)]
  const places = placesIn(join(scratch, 'healthy'))
  await mkdir(places.home, { recursive: true })
  const out = []
  for (const { name, files } of all) {
    if (!files.has(SUMMARY) || recordsIn(files, 'updates.jsonl').length === 0) continue
    const session = join(places.home, 'session')
    await settle(files, session)
    const { status, report } = await tell(binary, ['verify', '--json', session], places)
    const damage = (report?.sessions ?? []).flatMap(({ findings = [] }) => findings).filter(({ severity }) => severity !== 'note').map(({ code }) => code)
    if (status === 0) out.push({ name, files, open: false })
    else if (damage.length > 0 && damage.every(code => OPEN.has(code))) out.push({ name, files, open: true })
  }
  await rm(places.home, { recursive: true, force: true })
  return out
}

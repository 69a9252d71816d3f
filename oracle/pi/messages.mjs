// node messages.mjs BIN [PATH…] [--shared DIR] [--also PATH…] [--only WORD] [--jobs N] [--every N] [--keep DIR] [--verbose]: lets BIN export what a session
// sends, and holds that against what the real clients make of the session: their context, and the request that arrives at a model. Damaged sessions are exported as they are,
// and once more when they are repaired. One line for each fault; the last line counts. Exit 1 when one failed.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { areInstalled } from './lib/client.mjs'
import { forEachOf } from './lib/each.mjs'
import { endGuests } from './lib/guests.mjs'
import { endLookers } from './lib/look.mjs'
import { page } from './lib/page.mjs'
import { messageFaults } from './lib/sent.mjs'
import { healthySources, ownSources, sharedSources } from './lib/sources.mjs'
import { spoken } from './lib/spoken.mjs'

const { values, binary, paths, jobs, every, scratch } = await begin('messages', areInstalled, { also: { type: 'string', multiple: true, default: [] } }, ' [--also PATH…]')

const tally = { passed: 0, failed: 0, refused: 0 }
const sources = distinct([
  ...Object.entries(spoken).map(([name, rows]) => ({ name: `spoken/${name}`, bytes: page(rows).bytes() })),
  ...await healthySources(values.shared, [...paths, ...values.also]),
  ...ownSources(),
  ...values.shared === undefined ? [] : await sharedSources(resolve(values.shared)),
]).filter(({ name }, n) => name.includes(values.only) && n % every === 0)
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, `${String(n).padStart(3, '0')}-${source.name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const faults = await messageFaults(resolve(binary), source, folder).catch(error => [`no verdict: ${error.stack}`])
  tally[faults === undefined ? 'refused' : faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults ?? []) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && !faults?.length) console.log(`${faults === undefined ? 'refused' : 'passed'} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endGuests()
endLookers()
console.log(`messages: ${tally.refused} are refused: no client is held to them`)
console.log(`messages: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

/** The same bytes are asked about once. */
function distinct(list) {
  const seen = new Set()
  return list.filter(({ bytes }) => !seen.has(bytes.toString('latin1')) && seen.add(bytes.toString('latin1')))
}

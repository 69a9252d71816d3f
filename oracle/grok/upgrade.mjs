// node upgrade.mjs BIN [PATH…] [OPTIONS]: lets BIN bring sessions over that the first releases wrote, and holds what it writes against what the real client makes
// of the same when it opens it. One line for each fault; the last line counts.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { isInstalled } from './lib/client.mjs'
import { forEachOf } from './lib/each.mjs'
import { firsts, refused } from './lib/firsts.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { LOG, recordsIn } from './lib/session.mjs'
import { refusalFaults, rewindFaults, upgradeFaults } from './lib/upgrades.mjs'

const { values, binary, paths, jobs, every, scratch } = await begin('upgrade', isInstalled)

const isOld = files => recordsIn(files, LOG).some(({ params }) => params === undefined)
const found = [...await namedSources(paths), ...values.shared === undefined ? [] : await sharedSources(values.shared)].filter(({ files }) => files.has('summary.json') && isOld(files))
const trials = [
  ...[...firsts.map(source => ({ lost: false, ...source })), ...found].map(source => ({ name: source.name, run: folder => upgradeFaults(resolve(binary), source, folder) })),
  { name: 'a rewind', run: folder => rewindFaults(resolve(binary), firsts.find(({ name }) => name === 'a history of today without its version'), folder) },
  ...refused.map(source => ({ name: source.name, run: folder => refusalFaults(resolve(binary), source, folder) })),
].filter(({ name }, n) => name.includes(values.only) && n % every === 0)
const tally = { passed: 0, failed: 0 }
await forEachOf(trials, jobs, async ({ name, run }, n) => {
  const folder = join(scratch, `${String(n).padStart(2, '0')}-${name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const faults = await run(folder).catch(error => [`no verdict: ${error.stack}`])
  tally[faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults) console.log(`FAIL ${name}: ${fault}`)
  if (values.verbose && faults.length === 0) console.log(`passed ${name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

// node upgrade.mjs BIN [PATH…] [--shared DIR] [--only WORD] [--jobs N] [--every N] [--keep DIR] [--verbose]: lets BIN bring sessions of older generations
// to version 3, and holds each record against what the real client makes of it. One line for each fault; the last line counts. Exit 1 when one failed.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { areInstalled } from './lib/client.mjs'
import { forEachOf } from './lib/each.mjs'
import { generations, refused, settingsOf } from './lib/generations.mjs'
import { endGuests } from './lib/guests.mjs'
import { endLookers } from './lib/look.mjs'
import { isOld } from './lib/ask.mjs'
import { linesOf } from './lib/records.mjs'
import { harnessSources, healthySources } from './lib/sources.mjs'
import { forkedByClient, leaveFaults, refusalFaults, upgradeFaults } from './lib/upgrades.mjs'

const { values, binary, paths, jobs, every, scratch } = await begin('upgrade', areInstalled)

const found = (await healthySources(values.shared, paths)).filter(({ name, bytes }) => !name.startsWith('healthy/') && !name.startsWith('damaged/') && isOld(bytes))
  .map(source => ({ ...source, settings: settingsOf(linesOf(source.bytes)[0].value), parent: linesOf(source.bytes)[0].value.branchedFrom }))
const trials = [
  ...[...generations, ...found].map(source => ({ name: source.name, run: folder => upgradeFaults(resolve(binary), source, folder) })),
  ...generations.filter(({ broken }) => broken).map(source => ({ name: `${source.name}, forked by the client`, run: async folder => upgradeFaults(resolve(binary), await broken(source, folder), folder) })),
  ...(await harnessSources(values.shared)).map(source => ({ name: source.name, run: folder => leaveFaults(resolve(binary), source, folder) })),
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
endGuests()
endLookers()
console.log(`upgrade: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

/** A fork as the client makes it, and the version that its entries are of. */
async function broken({ bytes }, folder) {
  const { version } = linesOf(bytes)[0].value
  return { bytes: await forkedByClient(bytes, folder), version: { version } }
}

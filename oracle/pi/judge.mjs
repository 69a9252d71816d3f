// node judge.mjs BIN [OPTIONS]: lets BIN repair damaged sessions, and asks the real clients about the result.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { areInstalled } from './lib/client.mjs'
import { doctorFaults, doctorIn } from './lib/doctor.mjs'
import { forEachOf } from './lib/each.mjs'
import { endGuests } from './lib/guests.mjs'
import { endLookers } from './lib/look.mjs'
import { namedSources, ownSources, sharedSources } from './lib/sources.mjs'
import { runTrial } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shared: { type: 'string' }, also: { type: 'string', multiple: true, default: [] }, only: { type: 'string', default: '' },
    doctor: { type: 'string' }, jobs: { type: 'string', default: '4' }, every: { type: 'string', default: '1' }, keep: { type: 'string' }, verbose: { type: 'boolean', default: false }, afresh: { type: 'boolean', default: false },
  },
})
const [binary, ...paths] = positionals
const jobs = Number(values.jobs)
if (binary === undefined || !(jobs >= 1 && jobs <= 6)) fail('usage: node judge.mjs BIN [PATH…] [--shared DIR] [--also PATH…] [--only WORD] [--every N] [--doctor DIR] [--jobs 1 to 6] [--keep DIR] [--afresh] [--verbose]')
if (!existsSync(binary)) fail(`judge.mjs: ${binary} is not there`)
if (!areInstalled()) fail('judge.mjs: the clients are not installed: run install.sh pi')

const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-pi-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const mended = []
const tally = { clean: 0, repaired: 0, refused: 0, failed: 0 }
const sources = [
  ...ownSources(),
  ...values.shared !== undefined && existsSync(values.shared) ? await sharedSources(resolve(values.shared)) : [],
  ...await namedSources([...paths, ...values.also], count => console.log(`left out: ${count} logs that are not of this client`)),
].filter(({ name }) => name.includes(values.only)).filter((_, n) => n % Number(values.every) === 0)
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, `${String(n).padStart(3, '0')}-${source.name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const { outcome, faults, bytes } = await runTrial(resolve(binary), { ...source, afresh: values.afresh }, folder).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`] }))
  tally[outcome] += 1
  if (outcome === 'clean' || outcome === 'repaired') mended.push({ name: source.name, bytes })
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && faults.length === 0) console.log(`${outcome} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endGuests()
endLookers()
await askDoctor()
console.log(`pi: ${tally.clean} clean, ${tally.repaired} repaired, ${tally.refused} refused, ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

/** One store for all. A session that the doctor does not take has failed. */
async function askDoctor() {
  const program = doctorIn(values.doctor)
  if (program === undefined) return console.log('SKIPPED: the doctor of openclaw is not installed')
  if (mended.length === 0) return
  const faults = await doctorFaults(program, mended, join(scratch, 'doctor'))
  for (const fault of faults) console.log(`FAIL ${fault}`)
  tally.failed += faults.length
  console.log(`the doctor of openclaw was asked about ${mended.length}`)
}

function fail(words) {
  console.error(words)
  process.exit(2)
}

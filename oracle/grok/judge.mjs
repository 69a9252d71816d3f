// node judge.mjs BIN [PATH…] [OPTIONS]: lets BIN repair damaged sessions, and asks the real client about the result.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isInstalled } from './lib/client.mjs'
import { ownSources } from './lib/damaged.mjs'
import { forEachOf } from './lib/each.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { runTrial } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shared: { type: 'string' }, also: { type: 'string', multiple: true, default: [] }, only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '4' }, keep: { type: 'string' }, every: { type: 'string', default: '1' }, verbose: { type: 'boolean', default: false },
  },
})
const [binary, ...paths] = positionals
const jobs = Number(values.jobs)
if (binary === undefined || !(jobs >= 1 && jobs <= 6)) fail('usage: node judge.mjs BIN [PATH…] [--shared DIR] [--also PATH…] [--only WORD] [--every N] [--jobs 1 to 6] [--keep DIR] [--verbose]')
if (!existsSync(binary)) fail(`judge.mjs: ${binary} is not there`)
if (!isInstalled()) fail('judge.mjs: the client is not installed: run install.sh grok')

const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-grok-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

// A session of the first releases that is sound, and of which the client loses messages when it brings it up to date. There is nothing to
// repair: upgrade.mjs asks what migrate makes of it.
const OLDER = /(^|\/)early$/
const tally = { clean: 0, repaired: 0, refused: 0, failed: 0 }
const sources = [
  ...(await ownSources(scratch, jobs, name => name.includes(values.only))).filter((_, n) => n % Number(values.every) === 0),
  ...values.shared !== undefined && existsSync(values.shared) ? await sharedSources(resolve(values.shared)) : [],
  ...await namedSources([...paths, ...values.also]),
].filter(({ name }) => name.includes(values.only) && !OLDER.test(name))
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, `${String(n).padStart(3, '0')}-${source.name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const { outcome, faults } = await runTrial(resolve(binary), source, folder).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`] }))
  tally[outcome] += 1
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && faults.length === 0) console.log(`${outcome} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`grok: ${tally.clean} clean, ${tally.repaired} repaired, ${tally.refused} refused, ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

function fail(words) {
  console.error(words)
  process.exit(2)
}

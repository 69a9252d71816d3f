// node judge.mjs BIN [PATH…] [OPTIONS]: lets BIN repair copies of damaged sessions, and asks the real client about the result.
// With --as-is in place of BIN nothing is repaired, and what the client does with the damage is told.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findProgram } from './lib/client.mjs'
import { damagedSources, healthySources } from './lib/damaged.mjs'
import { forEachOf } from './lib/each.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { runTrial } from './lib/trial.mjs'

const USAGE = 'usage: node judge.mjs BIN|--as-is [PATH…] [--also PATH…] [--healthy DIR] [--shared DIR] [--only WORD] [--every N] [--jobs 1 to 6] [--keep DIR]'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'as-is': { type: 'boolean', default: false }, 'also': { type: 'string', multiple: true, default: [] },
    'healthy': { type: 'string' }, 'shared': { type: 'string' }, 'only': { type: 'string', default: '' },
    'jobs': { type: 'string', default: '4' }, 'every': { type: 'string', default: '1' }, 'keep': { type: 'string' },
  },
})
const binary = values['as-is'] ? undefined : positionals.shift()
const jobs = Number(values.jobs)
if ((binary === undefined && !values['as-is']) || !(jobs >= 1 && jobs <= 6)) fail(USAGE)
if (binary !== undefined && !existsSync(binary)) fail(`judge.mjs: ${binary} is not there`)
if (await findProgram() === undefined) fail('judge.mjs: the client is not installed: run install.sh codex')

const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-codex-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const tally = { passed: 0, refused: 0, failed: 0 }
const sources = (await allSources()).filter(source => source.name.includes(values.only)).filter((_, n) => n % Number(values.every) === 0)
if (sources.length === 0) console.log('SKIPPED: no sessions here, and none named')
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const trial = await runTrial(binary && resolve(binary), source, folder).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`] }))
  const { outcome, faults } = binary === undefined ? asTold(source, trial) : trial
  tally[outcome] += 1
  for (const fault of faults) console.log(`${outcome === 'failed' ? 'FAIL' : 'is  '} ${source.name}: ${fault}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`codex: ${tally.passed} passed, ${tally.refused} refused, ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

async function allSources() {
  const sources = []
  if (values.healthy !== undefined) sources.push(...await healthySources(values.healthy), ...(await damagedSources(values.healthy)).filter(({ unseen }) => values['as-is'] || !unseen))
  if (values.shared !== undefined && existsSync(values.shared)) sources.push(...await sharedSources(resolve(values.shared), scratch))
  const paths = [...positionals, ...values.also]
  if (paths.length > 0) sources.push(...await namedSources(paths, count => console.log(`left out: ${count} logs that are not of this client`)))
  return sources
}

/** Unrepaired damage is as bad as the damage table says, and no session that is said to be healthy is damaged. */
function asTold({ asIs, verdict }, { faults }) {
  if (asIs instanceof RegExp && !faults.some(fault => asIs.test(fault))) return { outcome: 'failed', faults: [...faults, `the client was to say ${asIs}`] }
  const healthy = asIs === null || (asIs === undefined && verdict === 'clean')
  return { outcome: healthy && faults.length > 0 ? 'failed' : 'passed', faults }
}

function fail(words) {
  console.error(words)
  process.exit(2)
}

// node judge.mjs BIN [--shared DIR] [--keep DIR] [--jobs N] [--only WORD] [--every N] [--also PATH…]: lets BIN repair copies of damaged
// sessions and the real client resume them. One line for each fault; the last line counts. Exit 1 when one failed.
// --shared is the folder with samples and field cases, left out when it is not there; --also adds files and folders.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { eachOf } from './lib/each.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { runTrial } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shared: { type: 'string' }, keep: { type: 'string' }, jobs: { type: 'string', default: '4' }, every: { type: 'string', default: '1' },
    only: { type: 'string', default: '' }, also: { type: 'string', multiple: true, default: [] },
  },
})
const [binary, ...more] = positionals
if (binary === undefined || (more.length > 0 && values.also.length === 0)) {
  console.error('usage: node judge.mjs BIN [--shared DIR] [--keep DIR] [--jobs N] [--only WORD] [--every N] [--also PATH…]')
  process.exit(2)
}
const jobs = Number(values.jobs)
if (!existsSync(binary) || !(jobs >= 1 && jobs <= 4)) {
  console.error(existsSync(binary) ? '--jobs takes 1 to 4' : `judge.mjs: ${binary} is not there`)
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-claude-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const tally = { passed: 0, refused: 0, failed: 0 }
const sources = (await allSources()).filter(source => source.name.includes(values.only)).filter((_, n) => n % Number(values.every) === 0)
await eachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const { outcome, faults } = await runTrial(resolve(binary), source, folder).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.message}`] }))
  tally[outcome] += 1
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true })
})
console.log(`claude-code: ${tally.passed} passed, ${tally.refused} refused, ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

async function allSources() {
  const named = await namedSources([...values.also, ...more])
  if (values.shared !== undefined && existsSync(values.shared)) return [...await sharedSources(resolve(values.shared), scratch), ...named]
  if (named.length === 0) console.log('SKIPPED: no samples here, and none named with --also')
  return named
}

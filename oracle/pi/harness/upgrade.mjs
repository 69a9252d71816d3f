// node upgrade.mjs BIN [--shared DIR] [--only WORD] [--jobs N] [--every N] [--keep DIR] [--verbose]: lets BIN make sessions of pi of what the real AgentHarness
// wrote, whole and cut, and lets the real one take them in again. One line for each fault; the last line counts. Exit 1 when one failed.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { forEachOf } from './lib/each.mjs'
import { leaveTrial } from './lib/leave.mjs'
import { endOpeners } from './lib/open.mjs'
import { ownSources, sharedSources } from './lib/sources.mjs'
import { homeIn } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shared: { type: 'string' }, only: { type: 'string', default: '' }, jobs: { type: 'string', default: '2' }, every: { type: 'string', default: '1' },
    keep: { type: 'string' }, verbose: { type: 'boolean', default: false },
  },
})
const jobs = Number(values.jobs)
const every = Number(values.every)
if (positionals.length !== 1 || !(jobs >= 1 && jobs <= 6) || !(every >= 1) || !existsSync(positionals[0])) {
  console.error('usage: node upgrade.mjs BIN [--shared DIR] [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR] [--verbose]')
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-harness-upgrade-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const env = await homeIn(join(scratch, 'client'))
const sources = [
  ...(await ownSources(scratch, env, { every })).filter(({ healthy }) => healthy === undefined),
  ...values.shared === undefined ? [] : await sharedSources(resolve(values.shared)),
].filter(({ name }) => name.includes(values.only))
const tally = { left: 0, refused: 0, failed: 0 }
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(4, '0'))
  const { outcome, faults } = await leaveTrial(resolve(positionals[0]), source, folder, env).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`] }))
  tally[outcome] += 1
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && faults.length === 0) console.log(`${outcome} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endOpeners()
console.log(`upgrade: ${tally.left + tally.refused} passed (${tally.left} taken in again, ${tally.refused} refused), ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.left === 0 ? 1 : 0)

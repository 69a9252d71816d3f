// node check.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs N] [--every N] [--keep DIR]: lets BIN mend what the real AgentHarness leaves when it is
// killed, and worse, and lets the real one go on with that. One line for each fault; the last line counts. Exit 1 when one failed.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { forEachOf } from './lib/each.mjs'
import { endOpeners } from './lib/open.mjs'
import { namedSources, ownSources, sharedSources } from './lib/sources.mjs'
import { homeIn, runTrial } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shared: { type: 'string' }, also: { type: 'string', multiple: true, default: [] }, only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '3' }, every: { type: 'string', default: '1' }, keep: { type: 'string' }, verbose: { type: 'boolean', default: false },
  },
})
const jobs = Number(values.jobs)
const every = Number(values.every)
if (positionals.length !== 1 || !(jobs >= 1 && jobs <= 6) || !(every >= 1) || !existsSync(positionals[0])) {
  console.error('usage: node check.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR] [--verbose]')
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-harness-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const env = await homeIn(join(scratch, 'client'))
const sources = [
  ...await ownSources(scratch, env, { every }),
  ...values.shared === undefined ? [] : await sharedSources(resolve(values.shared)),
  ...await namedSources(values.also.map(path => resolve(path))),
].filter(({ name }) => name.includes(values.only))
const tally = { clean: 0, repaired: 0, refused: 0, failed: 0 }
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(4, '0'))
  const { outcome, faults } = await runTrial(resolve(positionals[0]), source, folder, env).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`] }))
  tally[outcome] += 1
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && faults.length === 0) console.log(`${outcome} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endOpeners()
console.log(`harness: ${tally.clean + tally.repaired + tally.refused} passed (${tally.clean} clean, ${tally.repaired} repaired, ${tally.refused} refused), ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

// node messages.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs N] [--every N] [--keep DIR] [--verbose]: lets BIN export what the real AgentHarness
// sends, of what it leaves when it is killed, and worse, and holds that against the request that it makes when it goes on. One line for each fault; the last line counts.
// Exit 1 when one failed.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { forEachOf } from './lib/each.mjs'
import { endOpeners } from './lib/open.mjs'
import { messageFaults } from './lib/sent.mjs'
import { namedSources, ownSources, sharedSources } from './lib/sources.mjs'
import { homeIn } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shared: { type: 'string' }, also: { type: 'string', multiple: true, default: [] }, only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' }, every: { type: 'string', default: '1' }, keep: { type: 'string' }, verbose: { type: 'boolean', default: false },
  },
})
const jobs = Number(values.jobs)
const every = Number(values.every)
if (positionals.length !== 1 || !(jobs >= 1 && jobs <= 6) || !(every >= 1) || !existsSync(positionals[0])) {
  console.error('usage: node messages.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR] [--verbose]')
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-harness-messages-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const env = await homeIn(join(scratch, 'client'))
const sources = [
  ...await ownSources(scratch, env, { every }),
  ...values.shared === undefined ? [] : await sharedSources(resolve(values.shared)),
  ...await namedSources(values.also.map(path => resolve(path))),
].filter(({ name }) => name.includes(values.only))
const tally = { passed: 0, failed: 0, left: 0 }
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(4, '0'))
  const faults = await messageFaults(resolve(positionals[0]), source, folder, env).catch(error => [`no verdict: ${error.stack}`])
  tally[faults === undefined ? 'left' : faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults ?? []) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && !faults?.length) console.log(`${faults === undefined ? 'left out' : 'passed'} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endOpeners()
console.log(`messages: ${tally.left} left out: refused, or without a lane to go on in`)
console.log(`messages: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

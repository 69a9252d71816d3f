// node messages.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs N] [--every N] [--keep DIR] [--verbose]: lets BIN export what the real AgentHarness
// sends, of what it leaves when it is killed, and worse, and holds that against the request that it makes when it goes on. One line for each fault; the last line counts.
// Exit 1 when one failed.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { begin } from './lib/begin.mjs'
import { forEachOf } from './lib/each.mjs'
import { endOpeners } from './lib/open.mjs'
import { messageFaults } from './lib/sent.mjs'

const { binary, jobs, scratch, env, sources, keeps, verbose } = await begin('messages')
const tally = { passed: 0, failed: 0, left: 0 }
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(4, '0'))
  const faults = await messageFaults(binary, source, folder, env).catch(error => [`no verdict: ${error.stack}`])
  tally[faults === undefined ? 'left' : faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults ?? []) console.log(`FAIL ${source.name}: ${fault}`)
  if (verbose && !faults?.length) console.log(`${faults === undefined ? 'left out' : 'passed'} ${source.name}`)
  if (!keeps) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endOpeners()
console.log(`messages: ${tally.left} left out: refused, or without a lane to go on in`)
console.log(`messages: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

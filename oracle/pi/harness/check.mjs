// node check.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs N] [--every N] [--keep DIR]: lets BIN mend what the real AgentHarness leaves when it is
// killed, and worse, and lets the real one go on with that. One line for each fault; the last line counts. Exit 1 when one failed.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { begin } from './lib/begin.mjs'
import { forEachOf } from './lib/each.mjs'
import { endOpeners } from './lib/open.mjs'
import { runTrial } from './lib/trial.mjs'

const { binary, jobs, scratch, env, sources, keeps, verbose } = await begin('check')
const tally = { clean: 0, repaired: 0, refused: 0, failed: 0 }
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(4, '0'))
  const { outcome, faults } = await runTrial(binary, source, folder, env).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`] }))
  tally[outcome] += 1
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (verbose && faults.length === 0) console.log(`${outcome} ${source.name}`)
  if (!keeps) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endOpeners()
console.log(`harness: ${tally.clean + tally.repaired + tally.refused} passed (${tally.clean} clean, ${tally.repaired} repaired, ${tally.refused} refused), ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

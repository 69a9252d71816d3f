// node fork.mjs BIN [PATH…] [OPTIONS]: lets BIN fork sessions at every place, and holds each child against the real client: what it forks at
// the end of the same turn, and whether it lists the child, loads it and goes on with it. One line for each fault; the last line counts.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { forkFaults } from './lib/branches.mjs'
import { isInstalled } from './lib/client.mjs'
import { forEachOf } from './lib/each.mjs'
import { healthySources } from './lib/healthy.mjs'

const { values, binary, paths, jobs, every, scratch } = await begin('fork', isInstalled)

const tally = { passed: 0, failed: 0, sessions: 0, children: 0, refused: 0 }
const sources = (await healthySources(resolve(binary), values.shared, paths, scratch)).filter(({ name }) => name.includes(values.only))
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, `${String(n).padStart(2, '0')}-${source.name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const report = (place, faults) => {
    tally[faults.length > 0 ? 'failed' : 'passed'] += 1
    for (const fault of faults) console.log(`FAIL ${source.name} ${place}: ${fault}`)
    if (values.verbose && faults.length === 0) console.log(`passed ${source.name} ${place}`)
  }
  const seen = await forkFaults(resolve(binary), source, folder, every, report).catch(error => report('', [`no verdict: ${error.stack}`]))
  if (seen !== undefined) tally.sessions += 1
  tally.children += seen?.children ?? 0
  tally.refused += seen?.refused ?? 0
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`grok fork: ${tally.sessions} sessions, ${tally.children} children, ${tally.refused} places refused`)
console.log(`${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.children === 0 ? 1 : 0)

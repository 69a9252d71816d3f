// node messages.mjs BIN [PATH…] [OPTIONS]: holds the messages that BIN exports against what the real client sends when it goes on with the same session, of
// healthy sessions and of such as BIN can repair. One line for each fault; the last line counts.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { isInstalled } from './lib/client.mjs'
import { ownSources } from './lib/damaged.mjs'
import { forEachOf } from './lib/each.mjs'
import { exportFaults } from './lib/exports.mjs'
import { firsts } from './lib/firsts.mjs'
import { sorts } from './lib/sorts.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'

const also = { also: { type: 'string', multiple: true, default: [] } }
const { values, binary, paths, jobs, every, scratch } = await begin('messages', isInstalled, also, ' [--also PATH…]')

// A session of the first releases of which the client loses messages when it opens it: upgrade.mjs asks what is made of it.
const OLDER = /(^|\/)early$/
const sources = [
  ...(await ownSources(scratch, jobs, name => name.includes(values.only))).filter((_, n) => n % every === 0),
  sorts, ...firsts.filter(({ lost }) => !lost),
  ...values.shared === undefined ? [] : await sharedSources(values.shared),
  ...await namedSources([...paths, ...values.also]),
].filter(({ name }) => name.includes(values.only) && !OLDER.test(name))
const tally = { passed: 0, failed: 0, refused: 0, messages: 0 }
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, `${String(n).padStart(3, '0')}-${source.name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const { outcome, faults, messages } = await exportFaults(resolve(binary), source, folder).catch(error => ({ outcome: 'failed', faults: [`no verdict: ${error.stack}`], messages: 0 }))
  tally[outcome] += 1
  tally.messages += messages
  for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.verbose && faults.length === 0) console.log(`${outcome} ${source.name}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`grok messages: ${tally.messages} messages sent, ${tally.refused} sessions that cannot be repaired`)
console.log(`${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

// node generate.mjs OUT: writes real sessions, healthy and crashed, and OUT/index.json.
import { writeSessions } from './lib/sessions.mjs'

const [out] = process.argv.slice(2)
if (out === undefined) {
  console.error('usage: node generate.mjs OUT')
  process.exit(2)
}
const index = await writeSessions(out)
console.log(`${index.length} logs under ${out}`)
process.exit(0)

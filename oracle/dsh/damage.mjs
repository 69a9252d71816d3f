// node damage.mjs LOG OUT: one healthy plain v0 log in, OUT/<kind>/sessions/… and OUT/index.json out.
import { writeDamages } from './lib/damages.mjs'

const [log, out] = process.argv.slice(2)
if (out === undefined) {
  console.error('usage: node damage.mjs LOG OUT')
  process.exit(2)
}
const index = await writeDamages(log, out)
console.log(`${index.length} kinds under ${out}`)

// node damage.mjs HEALTHY OUT [WORD]: writes what every kind of damage makes of the healthy sessions, one folder each. HEALTHY is
// testdata/sessions/codex. Damage to databases is left out: it needs the client to make them first.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { damagedSources } from './lib/damaged.mjs'

const [healthy, out, word = ''] = process.argv.slice(2)
if (out === undefined) {
  console.error('usage: node damage.mjs HEALTHY OUT [WORD]')
  process.exit(2)
}
const sources = (await damagedSources(healthy)).filter(({ name, lived }) => name.includes(word) && !lived)
for (const { name, files } of sources) {
  for (const file of files) {
    const folder = join(out, name, file.archived ? 'archived_sessions' : '')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file.name), file.bytes)
  }
}
console.log(`${sources.length} kinds`)

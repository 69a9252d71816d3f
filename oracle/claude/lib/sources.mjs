// Which session files to judge: { name, file }.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { wholeRecords } from './records.mjs'

/** The samples and field cases of a shared folder. A case may come as a program that writes its files. */
export async function sharedSources(shared, scratch) {
  const samples = join(shared, 'oracles', 'claude-code', 'samples')
  const out = await sessionsBelow(samples)
  const field = join(shared, 'field')
  for (const name of await readdir(field).catch(() => [])) {
    if (!/^F\d+-claude-code-/.test(name)) continue
    out.push(...await sessionsBelow(join(field, name), field))
    if (!existsSync(join(field, name, 'make.py'))) continue
    const made = join(scratch, 'made', name)
    await mkdir(made, { recursive: true })
    try {
      execFileSync('python3', [join(field, name, 'make.py'), made], { timeout: 30_000, stdio: 'ignore' })
      out.push(...await sessionsBelow(made, join(scratch, 'made')))
    } catch (error) {
      console.log(`SKIPPED ${name}: its make.py does not run here: ${error.message.split('\n')[0]}`)
    }
  }
  return out
}

/** Paths that the caller named: a file is taken as it is, of a folder those files that are sessions of this client. */
export async function namedSources(paths) {
  const out = []
  let others = 0
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) {
      out.push({ name: path, file: resolve(path) })
      continue
    }
    for (const source of await sessionsBelow(path)) {
      if (await isOurs(source.file)) out.push({ ...source, name: join(path, source.name) })
      else others += 1
    }
  }
  if (others > 0) console.log(`left out: ${others} logs that are not of this client`)
  return out
}

async function sessionsBelow(folder, base = folder) {
  const entries = await readdir(folder, { recursive: true }).catch(() => [])
  const names = entries.filter(name => name.endsWith('.jsonl') && !name.split(sep).includes('subagents')).sort()
  return names.map(name => join(folder, name)).map(file => ({ name: relative(base, file), file }))
}

/** By the folder's name, or by fields that no other agent writes together. */
async function isOurs(file) {
  if (/claude/.test(file.split(sep).slice(-3, -1).join()) && !basename(file).startsWith('agent-')) return true
  return wholeRecords(await readFile(file)).some(record => 'parentUuid' in record && 'isSidechain' in record)
}

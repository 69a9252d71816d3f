// Where sessions come from: { name, files, verdict }. All rollouts of one folder, or of one home, belong together.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isRecord, recordsOf } from './lines.mjs'
import { readName, unpack } from './rollouts.mjs'

/** The samples and field cases of a shared folder. A case may come as a program that writes its files, and says what it expects. */
export async function sharedSources(shared, scratch) {
  const sources = await namedSources([join(shared, 'oracles', 'codex', 'samples')], () => {})
  const field = join(shared, 'field')
  for (const name of await readdir(field).catch(() => [])) {
    if (!/^F\d+-codex-/.test(name)) continue
    const { verdict } = JSON.parse(await readFile(join(field, name, 'expect.json'), 'utf8'))
    const cases = await namedSources([await made(join(field, name), join(scratch, 'made', name))], () => {})
    sources.push(...cases.map(source => ({ ...source, name: join('field', name, source.name), verdict })))
  }
  return sources
}

async function made(folder, into) {
  if (!existsSync(join(folder, 'make.py'))) return folder
  await mkdir(into, { recursive: true })
  execFileSync('python3', [join(folder, 'make.py'), into], { timeout: 30_000, stdio: 'ignore' })
  return into
}

/** Paths that the caller named. Of a folder the rollouts are taken; `leftOut` is told how many other logs there were. */
export async function namedSources(paths, leftOut) {
  const homes = new Map()
  let others = 0
  for (const path of paths) {
    const isFolder = (await stat(path)).isDirectory()
    const found = isFolder ? (await readdir(path, { recursive: true })).map(name => join(path, name)) : [path]
    for (const file of found.filter(name => /\.jsonl(\.zst)?$/.test(name)).sort()) {
      const bytes = await readFile(file)
      const name = nameFor(basename(file), bytes)
      if (name === undefined) {
        others += 1
        continue
      }
      const root = isFolder ? homeOf(resolve(file)) : resolve(file)
      const archived = file.split(sep).includes('archived_sessions')
      homes.set(root, [...homes.get(root) ?? [], { name, bytes, archived }])
      if (!isFolder) homes.get(root).push(...await siblings(file, name))
    }
  }
  if (others > 0) leftOut(others)
  const names = [...homes.keys()]
  const common = names.length > 1 ? commonFolder(names) : dirname(names[0] ?? '.')
  return names.map(root => ({ name: relative(common, root) || basename(root), files: homes.get(root) }))
}

/** What stands above the folders that the client makes. */
function homeOf(file) {
  const parts = dirname(file).split(sep)
  const at = parts.findIndex((part, n) => part === 'archived_sessions' || (part === 'sessions' && /^\d{4}$/.test(parts[n + 1])))
  return (at < 0 ? parts : parts.slice(0, at)).join(sep)
}

function commonFolder(paths) {
  const [first, ...rest] = paths.map(path => path.split(sep))
  const same = first.findIndex((part, n) => rest.some(other => other[n] !== part))
  return first.slice(0, same < 0 ? -1 : same).join(sep)
}

async function siblings(file, own) {
  const names = (await readdir(dirname(file))).filter(name => name !== own && readName(name)).sort()
  return Promise.all(names.map(async name => ({ name, bytes: await readFile(join(dirname(file), name)), archived: false })))
}

/** Its own, if that is one; or one by its header; undefined when it is no rollout. */
function nameFor(name, bytes) {
  if (readName(name)) return name
  const packed = name.endsWith('.zst')
  const records = recordsOf(packed ? unpack(bytes) : bytes).filter(isRecord)
  const { id, timestamp } = records.find(record => record.type === 'session_meta')?.payload ?? {}
  const own = `rollout-${String(timestamp).slice(0, 19).replaceAll(':', '-')}-${id}.jsonl${packed ? '.zst' : ''}`
  return readName(own) && own
}

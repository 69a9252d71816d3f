// One log, one sessfix: verify, repair, and both again, in a home of its own.
import { execFile } from 'node:child_process'
import { cp, copyFile, lutimes, mkdir, readFile, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { unpack, walkFrames } from './frames.mjs'
import { encodingOf, logPath } from './place.mjs'

const DAY = 86_400
const START = Date.now() / 1000

export async function runTrial(binary, log, home) {
  const root = join(home, '.dsh', 'sessions')
  const file = await settle(log, root)
  const trial = { log, root, file, before: await readFile(file), steps: {} }
  const others = await treeOf(root, file)
  for (const [name, command] of [['verify', 'verify'], ['repair', 'repair'], ['again', 'repair'], ['proof', 'verify']]) {
    await age(root)
    trial.steps[name] = await run(binary, command, file, home)
    trial.steps[name].bytes = await readFile(file).catch(() => Buffer.alloc(0))
  }
  trial.after = trial.steps.repair.bytes
  trial.litter = differences(others, await treeOf(root, file))
  return trial
}

/** Copy the log, with its neighbours when it has a root, to where the client would look for it. */
export async function settle(log, root) {
  if (log.root !== undefined) {
    await mkdir(dirname(root), { recursive: true })
    await cp(log.root, root, { recursive: true })
    return join(root, relative(log.root, log.file))
  }
  const header = await firstLine(log.file)
  const file = logPath(root, {
    cwd: header?.cwd, id: header?.id ?? basename(dirname(log.file)),
    version: Number.isInteger(header?.version) ? header.version : 0, encoding: encodingOf(log.file),
  })
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await copyFile(log.file, file)
  return file
}

export async function firstLine(file) {
  try {
    let bytes = await readFile(file)
    if (encodingOf(file) === 'zstd') bytes = unpack(bytes.subarray(0, walkFrames(bytes).frames[0].end))
    return JSON.parse(bytes.toString().split('\n', 1)[0])
  } catch {
    return undefined
  }
}

/** Nothing here is being written to, and the dates say so. */
export async function age(root) {
  for (const entry of await readdir(root, { recursive: true })) await lutimes(join(root, entry), START - DAY, START - DAY)
}

function run(binary, command, file, home) {
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile(binary, [command, '--json', file], { env, cwd: home, timeout: 60_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      let report
      try {
        report = JSON.parse(stdout)
      } catch {}
      const session = report?.sessions?.find(item => item.path === file) ?? report?.sessions?.[0]
      resolve({ exit: error === null ? 0 : error.code ?? error.signal, session, homes: report?.homes, json: report !== undefined, stderr })
    })
  })
}

async function treeOf(root, file) {
  const tree = new Map()
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && path !== file && entry.name !== 'session.lock') tree.set(relative(root, path), await readFile(path))
  }
  return tree
}

function differences(before, after) {
  const out = []
  for (const [path, bytes] of after) if (!before.get(path)?.equals(bytes)) out.push(`${before.has(path) ? 'changed' : 'left behind'}: ${path}`)
  for (const path of before.keys()) if (!after.has(path)) out.push(`removed: ${path}`)
  return out
}

// The real client resumes one session without a person, with our API in place of the service. It sees a home of its own,
// a key that opens nothing, and proxies where nobody listens: it reaches this machine and no other.
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, realpath, rename } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { startApi } from './api.mjs'
import { run } from './run.mjs'

const PACKAGE = '@anthropic-ai/claude-code'
export const PROGRAM = findProgram()
const NOWHERE = 'http://127.0.0.1:9'
export const PROMPT = 'a question after the resume'

/** The package of this platform holds the program; the main package would only copy it in an install script. */
function findProgram() {
  const { resolve } = createRequire(import.meta.url)
  for (const kind of ['', '-musl']) {
    try {
      const folder = dirname(resolve(`${PACKAGE}-${process.platform}-${process.arch}${kind}/package.json`))
      const program = join(folder, process.platform === 'win32' ? 'claude.exe' : 'claude')
      if (existsSync(program)) return program
    } catch {
      // Not that one.
    }
  }
  throw new Error('the client is not installed: run install.sh claude-code')
}

/**
 * Resume session `id` in `folder`, which holds home/.claude/projects/<one project>/<id>.jsonl. `newest` has the client find it by
 * itself, as the one that was written last, and `fork` go on in a child of it. An older release is a script, which Node runs.
 * { status, err, said, requests, before, after, made }: `said` is what the client printed, `made` the other transcripts it wrote.
 */
export async function resume(folder, id, { program = PROGRAM, newest = false, fork = false } = {}) {
  const at = Object.fromEntries(['home', 'project', 'tmp'].map(name => [name, join(folder, name)]))
  await mkdir(at.project, { recursive: true })
  await mkdir(at.tmp, { recursive: true })
  const config = join(at.home, '.claude')
  const projects = join(config, 'projects')
  const [only] = await readdir(projects)
  const own = join(projects, (await realpath(at.project)).replace(/[^a-zA-Z0-9]/g, '-'))
  await rename(join(projects, only), own)
  const file = join(own, `${id}.jsonl`)
  const before = await readFile(file)
  const known = await transcripts(projects)
  const api = await startApi()
  try {
    const which = [...newest ? ['--continue'] : ['--resume', id], ...fork ? ['--fork-session'] : []]
    const args = ['-p', '--output-format', 'json', '--tools', 'Bash,Read', '--system-prompt', 'oracle', ...which, PROMPT]
    const [command, ...first] = commandOf(program)
    const { status, out, err } = await run(command, [...first, ...args], { env: environment(at, config, api.url), cwd: at.project, seconds: 45 })
    const after = await readFile(file).catch(() => null)
    const made = (await transcripts(projects)).filter(name => !known.includes(name))
    return { status, err: err || out.trim(), said: lastLine(out), requests: api.requests, before, after, made }
  } finally {
    api.close()
  }
}

/** "2.1.328", as the program says itself. */
export async function releaseOf(program) {
  const [command, ...first] = commandOf(program)
  const { out } = await run(command, [...first, '--version'], { env: { PATH: process.env.PATH, HOME: '/nonexistent' }, cwd: '/', seconds: 45 })
  return out.trim().split(' ')[0]
}

const commandOf = program => /\.[cm]?js$/.test(program) ? [process.execPath, program] : [program]

export function environment(at, config, url) {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC', SHELL: '/bin/sh', NO_COLOR: '1',
    HOME: at.home, CLAUDE_CONFIG_DIR: config, TMPDIR: at.tmp, CLAUDE_CODE_TMPDIR: at.tmp,
    ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none',
    HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, ALL_PROXY: NOWHERE, NO_PROXY: '127.0.0.1',
    DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
}

async function transcripts(projects) {
  return (await readdir(projects, { recursive: true })).filter(name => name.endsWith('.jsonl')).sort()
}

function lastLine(out) {
  try {
    return JSON.parse(out.trim().split('\n').pop())
  } catch {
    return undefined
  }
}

// Starts the real client. It sees a home of its own, a key that opens nothing, and proxies where nobody listens: it reaches
// this machine and no other.
import { existsSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { App } from './app.mjs'

const NOWHERE = 'http://127.0.0.1:9'
export const PROVIDER = 'oracle'

/** The program of this platform's package, or undefined when it is not installed. */
export async function findProgram() {
  let vendor
  try {
    const packages = createRequire(import.meta.url)
    vendor = join(dirname(packages.resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`)), 'vendor')
  } catch {
    return undefined
  }
  const triples = await readdir(vendor)
  return triples.map(triple => join(vendor, triple, 'bin', process.platform === 'win32' ? 'codex.exe' : 'codex')).find(existsSync)
}

/** The folders of one user: { home, codex, project }. */
export function placesIn(folder) {
  return { home: join(folder, 'home'), codex: join(folder, 'home', '.codex'), project: join(folder, 'project') }
}

/** An app server at work on `places`. The API at `url` stands for each of the `providers` that the sessions name. */
export async function openClient(program, places, url, providers = []) {
  await mkdir(places.codex, { recursive: true })
  await mkdir(places.project, { recursive: true })
  await mkdir(join(places.home, 'bin'), { recursive: true })
  // The client asks a slow script twice for the name of the system. It does without.
  await symlink('/bin/false', join(places.home, 'bin', 'lsb_release')).catch(() => {})
  await writeFile(join(places.codex, 'config.toml'), configFor(places, url, providers))
  const app = new App(program, { env: environment(places), cwd: places.project })
  await app.begin()
  return app
}

export function environment({ home, codex }) {
  return {
    PATH: `${join(home, 'bin')}:/usr/local/bin:/usr/bin:/bin`, HOME: home, CODEX_HOME: codex, SHELL: '/bin/sh', TZ: 'UTC', LANG: 'C.UTF-8', TERM: 'dumb',
    ORACLE_KEY: 'none', OPENAI_API_KEY: 'none', RUST_LOG: 'off', HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, ALL_PROXY: NOWHERE, NO_PROXY: '127.0.0.1',
  }
}

/** What costs time at the start and has nothing to do with sessions. */
const IDLE = [
  'apps', 'plugins', 'remote_plugin', 'hooks', 'multi_agent', 'shell_snapshot', 'skill_search', 'tool_suggest', 'api_key_model_discovery',
  'workspace_dependencies',
]

/** Without a second try, so that one turn is one request; without asking a person. */
function configFor({ project }, url, providers) {
  const own = [...new Set([PROVIDER, ...providers.filter(name => name !== 'openai')])]
  return `
model = "oracle"
model_provider = "${PROVIDER}"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
openai_base_url = ${JSON.stringify(url)}
analytics.enabled = false
skills.bundled.enabled = false
${IDLE.map(name => `features.${name} = false`).join('\n')}
projects.${JSON.stringify(project)}.trust_level = "trusted"
${own.map(name => `
[model_providers.${JSON.stringify(name)}]
name = "oracle"
base_url = ${JSON.stringify(url)}
wire_api = "responses"
env_key = "ORACLE_KEY"
request_max_retries = 0
stream_max_retries = 0`).join('\n')}
`
}

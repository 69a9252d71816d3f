// Starts the real client. It sees a home of its own, a key that opens nothing, and proxies where nobody listens: it reaches
// this machine and no other.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent } from './agent.mjs'

const NOWHERE = 'http://127.0.0.1:9'
/** Where unpack.mjs puts it. */
export const PROGRAM = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.grok', 'grok')
export const isInstalled = () => existsSync(PROGRAM)

/** The folders of one user: { home, grok, project }. */
export function placesIn(folder) {
  return { home: join(folder, 'home'), grok: join(folder, 'home', '.grok'), project: join(folder, 'project') }
}

/** Where the client keeps the sessions of a folder. */
export const groupOf = ({ grok }, cwd) => join(grok, 'sessions', encodeURIComponent(cwd).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`))

/** A client at work on `places`, on a pipe. With `asks` it asks a person before it runs a command. */
export async function openClient(places, url, { asks = false } = {}) {
  await mkdir(places.grok, { recursive: true })
  await mkdir(places.project, { recursive: true })
  await writeFile(join(places.grok, 'config.toml'), configFor(url, asks))
  const options = ['--no-leader', ...asks ? [] : ['--always-approve'], '-m', 'oracle', 'stdio']
  const agent = new Agent(PROGRAM, ['agent', ...options], optionsOf(places))
  await agent.begin()
  return agent
}

/** How any program of the client is started there. */
export const optionsOf = places => ({ env: environment(places), cwd: places.project })

function environment({ home }) {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, SHELL: '/bin/sh', TZ: 'UTC', LANG: 'C.UTF-8', TERM: 'dumb',
    XAI_API_KEY: 'none', GROK_DISABLE_AUTOUPDATER: '1', GROK_TELEMETRY_ENABLED: '0', GROK_MEMORY: '0', GROK_MAX_RETRIES: '0',
    HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, ALL_PROXY: NOWHERE, NO_PROXY: '127.0.0.1',
  }
}

/** Without a second try, so that one step is one request. */
function configFor(url, asks) {
  return `
${asks ? '[ui]\npermission_mode = "ask"\n[permission]\nask = ["Bash(*)"]\n' : ''}
[cli]
auto_update = false
[features]
telemetry = false
[telemetry]
trace_upload = false
[models]
default = "oracle"
[endpoints]
models_base_url = ${JSON.stringify(url)}
[model.oracle]
name = "Oracle"
model = "oracle-1"
base_url = ${JSON.stringify(url)}
api_key = "none"
api_backend = "chat_completions"
context_window = 100000
max_retries = 0
`
}

// Runs the program under test on one session.
import { run } from './processes.mjs'

/** { status, err, sessions }: sessions are those of the report, none where there is no report. */
export async function sessfix(binary, command, places, session) {
  const env = { PATH: process.env.PATH, HOME: places.home, TMPDIR: places.home, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const { status, out, err } = await run(binary, [command, '--json', session], { env, cwd: places.home })
  return { status, err: err.replaceAll(/\/\S+\//g, '').slice(0, 300), sessions: sessionsIn(out) }
}

function sessionsIn(out) {
  try {
    return JSON.parse(out).sessions ?? []
  } catch {
    return []
  }
}

// Runs the program under test.
import { run } from './processes.mjs'

/** { status, err, sessions } of a command on one session: sessions are those of the report, none where there is no report. */
export async function sessfix(binary, command, places, session) {
  const { status, err, report } = await tell(binary, [command, '--json', session], places)
  return { status, err, sessions: report?.sessions ?? [] }
}

/** { status, err, report }: the report is undefined where there is none. */
export async function tell(binary, args, places) {
  const env = { PATH: process.env.PATH, HOME: places.home, TMPDIR: places.home, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const { status, out, err } = await run(binary, args, { env, cwd: places.home })
  return { status, err: err.replaceAll(/\/\S+\//g, '').slice(0, 300), report: parsed(out) }
}

function parsed(out) {
  try {
    return JSON.parse(out)
  } catch {
    return undefined
  }
}

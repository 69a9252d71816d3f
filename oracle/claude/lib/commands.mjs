// Commands for a client to run in `folder`. Each waits until it is let go, and leaves a sign that it began. Should nobody be left
// to let it go, it ends after 25 seconds.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function commandsIn(folder) {
  const writers = new Map()
  const path = (id, kind) => join(folder, `${id}.${kind}`)
  const ids = kind => readdirSync(folder).filter(name => name.endsWith(`.${kind}`)).map(name => name.slice(0, -kind.length - 1))

  /** A pipe opens for writing at once if somebody reads it. While it is open, the reader waits. */
  function lookAt(id) {
    if (writers.has(id) || !existsSync(path(id, 'pipe'))) return
    try {
      writers.set(id, openSync(path(id, 'pipe'), constants.O_WRONLY | constants.O_NONBLOCK))
      writeFileSync(path(id, 'began'), '')
    } catch (error) {
      if (error.code !== 'ENXIO') throw error
    }
  }

  function letGo(id) {
    lookAt(id)
    if (writers.has(id)) closeSync(writers.get(id))
    writers.delete(id)
    for (const kind of ['hold', 'pipe']) rmSync(path(id, kind), { force: true })
  }

  return {
    /** It writes, so the client runs it alone. */
    writer(id) {
      writeFileSync(path(id, 'hold'), '')
      return `echo run >> ${id}.began; n=0; while [ -e ${id}.hold ] && [ $n -lt 250 ]; do n=$((n+1)); sleep 0.1; done; echo end >> ${id}.ended`
    },
    /** It only reads, so the client runs it beside others of its kind. */
    reader(id) {
      execFileSync('mkfifo', [path(id, 'pipe')])
      return `timeout 25 cat ${id}.pipe`
    },
    /** It does not wait. */
    printer: (id, script) => `echo run >> ${id}.began; ${script}; echo end >> ${id}.ended`,
    began(id) {
      lookAt(id)
      return existsSync(path(id, 'began'))
    },
    ended: id => existsSync(path(id, 'ended')),
    letGo,
    letAllGo() {
      for (const id of new Set([...ids('hold'), ...ids('pipe')])) letGo(id)
    },
    allThatBegan: () => ids('began'),
  }
}

// Commands for a client to run in `folder`. Each leaves a sign that it began, and waits until it is let go. Should nobody be left to
// let it go, it ends by itself after 25 seconds.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function commandsIn(folder) {
  const path = (id, kind) => join(folder, `${id}.${kind}`)
  const ids = kind => readdirSync(folder).filter(name => name.endsWith(`.${kind}`)).map(name => name.slice(0, -kind.length - 1)).sort()
  const letGo = id => rmSync(path(id, 'hold'), { force: true })
  return {
    waits(id) {
      writeFileSync(path(id, 'hold'), '')
      return `echo run >> ${id}.began; n=0; while [ -e ${id}.hold ] && [ $n -lt 250 ]; do n=$((n+1)); sleep 0.1; done; echo end >> ${id}.ended; echo ${id} is done`
    },
    quick: id => `echo run >> ${id}.began; echo end >> ${id}.ended; echo ${id} is done`,
    began: id => existsSync(path(id, 'began')),
    ended: id => existsSync(path(id, 'ended')),
    letGo,
    letAllGo: () => ids('hold').forEach(letGo),
    allThatBegan: () => ids('began'),
  }
}

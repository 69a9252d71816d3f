package repair_test
import ("testing";"time";"github.com/sessfix/sessfix/internal/damage/trial";"github.com/sessfix/sessfix/internal/damage")
func TestZZ(t *testing.T){
 d:=reframed(t, "tiny.v0.jsonl", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
 fr,_:=damage.Frames(d); for _,f:=range fr {t.Log(len(f))}
 t.Log(len(d))
 for _,at:=range []int{30,200,500,800,1200,1500,1300} {
  if at>=len(d) {continue}
  f:=append([]byte(nil),d...); f[at]^=4
  s:=time.Now(); tr,err:=trial.Of(t.Context(),trial.PackedPath,f); t.Log(at,time.Since(s),err,codes(tr))
 }
}

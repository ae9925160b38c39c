;; Scores `count` int8 vectors against one int8 query: out[i] = sum of vectors[i][j] * query[j].
;; `dimensions` is a multiple of 16. vector-scan.ts has the binary: npx -p wabt wat2wasm vector-scan.wat, as base64.
(module
  (memory (export "memory") 1)
  (func (export "scan")
    (param $vectors i32) (param $count i32) (param $dimensions i32) (param $query i32) (param $out i32)
    (local $i i32) (local $end i32) (local $v i32) (local $q i32) (local $sum v128) (local $x v128) (local $y v128)
    (local.set $v (local.get $vectors))
    (block $done
      (loop $next
        (br_if $done (i32.ge_s (local.get $i) (local.get $count)))
        (local.set $q (local.get $query))
        (local.set $end (i32.add (local.get $v) (local.get $dimensions)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (loop $lane
          (local.set $x (v128.load (local.get $v)))
          (local.set $y (v128.load (local.get $q)))
          (local.set $sum (i32x4.add (local.get $sum)
            (i32x4.dot_i16x8_s
              (i16x8.extend_low_i8x16_s (local.get $x))
              (i16x8.extend_low_i8x16_s (local.get $y)))))
          (local.set $sum (i32x4.add (local.get $sum)
            (i32x4.dot_i16x8_s
              (i16x8.extend_high_i8x16_s (local.get $x))
              (i16x8.extend_high_i8x16_s (local.get $y)))))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (local.set $v (i32.add (local.get $v) (i32.const 16)))
          (br_if $lane (i32.lt_u (local.get $v) (local.get $end))))
        (i32.store
          (i32.add (local.get $out) (i32.shl (local.get $i) (i32.const 2)))
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))))

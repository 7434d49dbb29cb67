; Functions of cujit's own, beside those of libdevice that they take the place of (codegen/libdevice_angles.c): with the library's
; values, bit for bit, and less code for LLVM and ptxas.

target datalayout = "e-i64:64-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-gpulibs"

; --- float32: how many quarter turns an angle is, and what is left, in radians --------------------------------------------

; 2 / pi * 2^192, the lowest word first, between words that are 0.
@__cujit_two_over_pi_f = internal unnamed_addr addrspace(1) constant [8 x i32] [i32 0, i32 u0x3c439041, i32 u0xdb629599,
    i32 u0xf534ddc0, i32 u0xfc2757d1, i32 u0x4e441529, i32 u0xa2f9836e, i32 0], align 4

; For 2^16 and above. The library multiplies all six words by the angle's significand and looks for 64 bits of the product;
; here 96 bits are looked for, which give the product's 64. What lies below them would change the last of these bits, and does
; not change what is left as a float32, in any of all angles. Behind them comes 0 * angle: not a number, if that is infinite.
define { float, i32 } @__cujit_reduce_f(float %angle) alwaysinline nounwind {
  %bits = bitcast float %angle to i32
  %field = lshr i32 %bits, 23
  %exponent = and i32 %field, 255
  %offset = sub i32 280, %exponent
  %index = lshr i32 %offset, 5
  %wide_index = zext i32 %index to i64
  %p0 = getelementptr inbounds i32, ptr addrspace(1) @__cujit_two_over_pi_f, i64 %wide_index
  %p1 = getelementptr inbounds i32, ptr addrspace(1) %p0, i64 1
  %p2 = getelementptr inbounds i32, ptr addrspace(1) %p0, i64 2
  %p3 = getelementptr inbounds i32, ptr addrspace(1) %p0, i64 3
  %w0 = load i32, ptr addrspace(1) %p0, align 4
  %w1 = load i32, ptr addrspace(1) %p1, align 4
  %w2 = load i32, ptr addrspace(1) %p2, align 4
  %w3 = load i32, ptr addrspace(1) %p3, align 4
  %u0 = call i32 @llvm.fshr.i32(i32 %w1, i32 %w0, i32 %offset)
  %u1 = call i32 @llvm.fshr.i32(i32 %w2, i32 %w1, i32 %offset)
  %u2 = call i32 @llvm.fshr.i32(i32 %w3, i32 %w2, i32 %offset)
  %fraction_bits = and i32 %bits, u0x7fffff
  %significand = or i32 %fraction_bits, u0x800000
  %m = zext i32 %significand to i64
  %v0 = zext i32 %u0 to i64
  %v1 = zext i32 %u1 to i64
  %low_product = mul i64 %m, %v0
  %low = lshr i64 %low_product, 32
  %middle = mul i64 %m, %v1
  %high_word = mul i32 %significand, %u2
  %high_wide = zext i32 %high_word to i64
  %high = shl i64 %high_wide, 32
  %sum = add i64 %middle, %low
  %quarters = add i64 %sum, %high ; in 2^-62 quarter turns
  %left = shl i64 %quarters, 2
  %whole_wide = lshr i64 %quarters, 62
  %whole = trunc i64 %whole_wide to i32
  %is_over_half_wide = lshr i64 %left, 63
  %is_over_half = trunc i64 %is_over_half_wide to i32
  %turns = add i32 %whole, %is_over_half
  %left_double = sitofp i64 %left to double
  %radians_double = fmul double %left_double, 0x3BF921FB54442D19 ; pi / 2 * 2^-64
  %radians = fptrunc double %radians_double to float
  %minus_radians = fneg float %radians
  %minus_turns = sub i32 0, %turns
  %is_negative = icmp slt i32 %bits, 0
  %signed_radians = select i1 %is_negative, float %minus_radians, float %radians
  %signed_turns = select i1 %is_negative, i32 %minus_turns, i32 %turns
  %checked = call float @llvm.fma.f32(float %angle, float 0.0, float %signed_radians)
  %half_result = insertvalue { float, i32 } poison, float %checked, 0
  %result = insertvalue { float, i32 } %half_result, i32 %signed_turns, 1
  ret { float, i32 } %result
}

declare i32 @llvm.fshr.i32(i32, i32, i32)
declare float @llvm.fma.f32(float, float, float)

; --- float64: the same, with all bits of the product --------------------------------------------------------------------------

; 2 / pi * 2^1152 in words of 32 bits, the lowest first, below words that are 0.
@__cujit_two_over_pi_d = internal unnamed_addr addrspace(1) constant [40 x i32] [
    i32 u0x1f8d5d08, i32 u0x6bfb5fb1, i32 u0x8a5292ea, i32 u0x3d0739f7, i32 u0xebe5f17b, i32 u0x7527bac7,
    i32 u0x9e5fea2d, i32 u0x4f463f66, i32 u0x27cb09b7, i32 u0x6d367ecf, i32 u0x5a0a6d1f, i32 u0xef2f118b,
    i32 u0xde05980f, i32 u0x1ff897ff, i32 u0xbdf9283b, i32 u0x9c845f8b, i32 u0x835339f4, i32 u0x3991d639,
    i32 u0xb45f7e41, i32 u0xe99c7026, i32 u0x2ebb4484, i32 u0xe88235f5, i32 u0xb129a73e, i32 u0xfe1deb1c,
    i32 u0x09d1921c, i32 u0x06492eea, i32 u0x424dd2e0, i32 u0xb7246e3a, i32 u0xdebbc561, i32 u0xfe5163ab,
    i32 u0x3c439041, i32 u0xdb629599, i32 u0xf534ddc0, i32 u0xfc2757d1, i32 u0x4e441529, i32 u0xa2f9836e,
    i32 0, i32 0, i32 0, i32 0], align 4

%struct.trig_reduction_return = type { double, i32 }

; For 2^31 and above. Words of the product come from the loop, a place higher each time; the last six stay. It stays a
; function, which sin and cos have in common.
define %struct.trig_reduction_return @__cujit_reduce_d(double %angle) noinline nounwind memory(none) {
entry:
  %bits = bitcast double %angle to i64
  %high_bits_wide = lshr i64 %bits, 32
  %high_bits = trunc i64 %high_bits_wide to i32
  %low_bits = trunc i64 %bits to i32
  %field = lshr i32 %high_bits, 20
  %exponent = and i32 %field, 2047
  %large = sub i32 %exponent, 1024
  %significand_high = call i32 @llvm.fshl.i32(i32 %high_bits, i32 %low_bits, i32 11)
  %m1 = or i32 %significand_high, u0x80000000
  %m0 = shl i32 %low_bits, 11
  %m1_wide = zext i32 %m1 to i64
  %m0_wide = zext i32 %m0 to i64
  %pairs = lshr i32 %large, 6
  %pair = sub i32 15, %pairs
  %first = shl i32 %pair, 1
  %first_wide = zext i32 %first to i64
  %start = getelementptr inbounds i32, ptr addrspace(1) @__cujit_two_over_pi_d, i64 %first_wide
  %large_low = and i32 %large, 63
  %distance = add i32 %large_low, 2 ; over the two bits of whole quarter turns, too
  %fewer = lshr i32 %distance, 5
  %count = sub i32 9, %fewer
  br label %multiply

multiply:
  %next_word = phi ptr addrspace(1) [ %start, %entry ], [ %after, %multiply ]
  %trips = phi i32 [ %count, %entry ], [ %trips_left, %multiply ]
  %carry = phi i64 [ 0, %entry ], [ %carry_out, %multiply ]
  %r1 = phi i32 [ 0, %entry ], [ %r2, %multiply ]
  %r2 = phi i32 [ 0, %entry ], [ %r3, %multiply ]
  %r3 = phi i32 [ 0, %entry ], [ %r4, %multiply ]
  %r4 = phi i32 [ 0, %entry ], [ %r5, %multiply ]
  %r5 = phi i32 [ 0, %entry ], [ %r6, %multiply ]
  %word = load i32, ptr addrspace(1) %next_word, align 4
  %word_wide = zext i32 %word to i64
  %product_low = mul i64 %word_wide, %m0_wide
  %carry_low = and i64 %carry, u0xffffffff
  %sum_low = add i64 %product_low, %carry_low
  %r6 = trunc i64 %sum_low to i32
  %product_high = mul i64 %word_wide, %m1_wide
  %carry_high = lshr i64 %carry, 32
  %sum_middle = add i64 %product_high, %carry_high
  %over = lshr i64 %sum_low, 32
  %carry_out = add i64 %sum_middle, %over
  %after = getelementptr inbounds i32, ptr addrspace(1) %next_word, i64 1
  %trips_left = sub i32 %trips, 1
  %is_done = icmp eq i32 %trips_left, 0
  br i1 %is_done, label %shift, label %multiply, !llvm.loop !0

shift:
  %beyond = call i32 @llvm.fshl.i32(i32 %r6, i32 %r5, i32 %distance)
  %f3 = call i32 @llvm.fshl.i32(i32 %r5, i32 %r4, i32 %distance)
  %f2 = call i32 @llvm.fshl.i32(i32 %r4, i32 %r3, i32 %distance)
  %f1 = call i32 @llvm.fshl.i32(i32 %r3, i32 %r2, i32 %distance)
  %f0 = call i32 @llvm.fshl.i32(i32 %r2, i32 %r1, i32 %distance)
  %whole = and i32 %beyond, 3
  %is_over_half = lshr i32 %f3, 31
  %turns = add i32 %whole, %is_over_half
  %minus_turns = sub i32 0, %turns
  %is_negative = icmp slt i32 %high_bits, 0
  %signed_turns = select i1 %is_negative, i32 %minus_turns, i32 %turns
  %signs = xor i32 %f3, %high_bits
  %sign = and i32 %signs, u0x80000000

  ; What is left is f3 to f0, or what is missing to the next quarter turn.
  %missing = ashr i32 %f3, 31
  %missing_wide = sext i32 %missing to i64
  %f3_wide = zext i32 %f3 to i64
  %f2_wide = zext i32 %f2 to i64
  %f1_wide = zext i32 %f1 to i64
  %f0_wide = zext i32 %f0 to i64
  %f3_place = shl i64 %f3_wide, 32
  %f1_place = shl i64 %f1_wide, 32
  %f32 = or i64 %f3_place, %f2_wide
  %f10 = or i64 %f1_place, %f0_wide
  %turned_high = xor i64 %f32, %missing_wide
  %turned_low = xor i64 %f10, %missing_wide
  %magnitude_low = sub i64 %turned_low, %missing_wide
  %has_carry = icmp ult i64 %magnitude_low, %turned_low
  %carried = zext i1 %has_carry to i64
  %magnitude_high = add i64 %turned_high, %carried
  %g3_place = lshr i64 %magnitude_high, 32
  %g1_place = lshr i64 %magnitude_low, 32
  %g3 = trunc i64 %g3_place to i32
  %g2 = trunc i64 %magnitude_high to i32
  %g1 = trunc i64 %g1_place to i32
  %g0 = trunc i64 %magnitude_low to i32

  ; Its highest 64 bits.
  %is_low = icmp eq i32 %g3, 0
  %h2 = select i1 %is_low, i32 %g2, i32 %g3
  %h1 = select i1 %is_low, i32 %g1, i32 %g2
  %h0 = select i1 %is_low, i32 %g0, i32 %g1
  %skipped = select i1 %is_low, i32 95, i32 63
  %zeros = call i32 @llvm.ctlz.i32(i32 %h2, i1 false)
  %n1 = call i32 @llvm.fshl.i32(i32 %h2, i32 %h1, i32 %zeros)
  %n0 = call i32 @llvm.fshl.i32(i32 %h1, i32 %h0, i32 %zeros)
  %n1_wide = zext i32 %n1 to i64
  %n0_wide = zext i32 %n0 to i64
  %n1_place = shl i64 %n1_wide, 32
  %normal = or i64 %n1_place, %n0_wide

  ; Times pi / 4, from the highest bit on, which for factors below 4 / pi is one lower: pi / 2 is 1 + u0x921fb54442d1846a / 2^64.
  %is_below = icmp ult i64 %normal, u0xa2f9836e4e44152a
  %factor = select i1 %is_below, i64 u0x921fb54442d1846a, i64 u0xc90fdaa22168c235
  %one_time = select i1 %is_below, i64 %normal, i64 0
  %one_lower = zext i1 %is_below to i32
  %normal_wide = zext i64 %normal to i128
  %factor_wide = zext i64 %factor to i128
  %product = mul i128 %normal_wide, %factor_wide
  %upper_place = lshr i128 %product, 64
  %upper = trunc i128 %upper_place to i64
  %radians_bits = add i64 %upper, %one_time

  ; One is added, and what then lies between two numbers is rounded up: the last bit says that it is more.
  %one_more = add i64 %radians_bits, 1
  %rounded_up = or i64 %one_more, 1
  %radians_double = uitofp i64 %rounded_up to double
  %radians_as_bits = bitcast double %radians_double to i64
  %high_place = lshr i64 %radians_as_bits, 32
  %high_word = trunc i64 %high_place to i32
  %low_word = and i64 %radians_as_bits, u0xffffffff
  %places = add i32 %skipped, %zeros
  %all_places = add i32 %places, %one_lower
  %less = shl i32 %all_places, 20
  %scaled = sub i32 %high_word, %less
  %signed = xor i32 %scaled, %sign
  %signed_wide = zext i32 %signed to i64
  %signed_place = shl i64 %signed_wide, 32
  %result_bits = or i64 %signed_place, %low_word
  %radians = bitcast i64 %result_bits to double
  %half_result = insertvalue %struct.trig_reduction_return poison, double %radians, 0
  %result = insertvalue %struct.trig_reduction_return %half_result, i32 %signed_turns, 1
  ret %struct.trig_reduction_return %result
}

declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.ctlz.i32(i32, i1)

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}

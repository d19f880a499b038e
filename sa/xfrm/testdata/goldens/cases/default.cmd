ip xfrm policy getdefault
ip xfrm policy setdefault in block
ip xfrm policy getdefault
ip xfrm policy setdefault in accept fwd block out block
ip xfrm policy getdefault
ip xfrm policy setdefault out allow fwd allow in allow
ip xfrm policy getdefault
ip xfrm policy setdefault out
ip xfrm policy setdefault all block
ip xfrm policy setdefault in block in block
